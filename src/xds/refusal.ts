import type { status } from '@grpc/grpc-js';

/** The fields of `Xds.Limits`, by which refusals are counted: a bounded set. */
export type LimitName =
  | 'Streams'
  | 'StreamsPerIdentity'
  | 'Names'
  | 'NameLength'
  | 'MessageBytes'
  | 'RequestsPerSecond'
  | 'NewStreamsPerSecond'
  | 'ReadSeconds'
  | 'AckSeconds';

/** A limit was reached. */
export interface Refusal {
  readonly limit: LimitName;
  readonly code: status;
  /** For the client and the log: the limit, its value, and what went beyond. */
  readonly details: string;
}
