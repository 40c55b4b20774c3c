import type { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../core/model/configuration.ts';
import type { Seat } from './feeds.ts';
import type { Identity } from './identity.ts';
import type { NodeIdentity } from './request.ts';
import type { FeedReader } from './spread.ts';
import type { StreamAudience } from './stream-reports.ts';

/** The node of a client that has not told one. */
export const UNNAMED: NodeIdentity = { id: '', cluster: '', userAgent: '', zone: '' };

/** The way back to the client. */
export interface StreamTransport {
  /**
   * Calls `done` when HTTP/2 has taken the message; never when the stream ends before.
   * @param message with gRPC's prefix; not copied, so never to be changed.
   */
  write(message: Buffer, done: () => void): void;
  /** Ends the stream once what was written is out. */
  end(code: status, details: string): void;
  /** Ends the client's connection at once. */
  abort(): void;
}

/** By what a stream's resources are chosen. */
export interface StreamClient {
  readonly node: NodeIdentity;
  /** Which service, as in {@link XdsObserver}. */
  readonly kind: string;
  readonly identities: readonly Identity[];
}

/** What all streams of a server share. */
export interface StreamContext extends StreamAudience {
  /** Whether a client may see anything at all; what, is decided by {@link join}. */
  readonly admits: (kind: string, identities: readonly Identity[]) => boolean;
  /**
   * Where a stream gets its resources from; chosen once, when its first request has told the node. undefined: the
   * client may see nothing.
   */
  readonly join: (client: StreamClient, stream: FeedReader) => Seat | undefined;
  readonly limits: XdsLimits;
}
