import type { NodeIdentity } from './request.ts';

/**
 * Clients that need the same things told in different words: where a resource refers to others, it says where to get
 * them, and what one kind of client needs another refuses.
 */
export const AUDIENCES = ['aggregated', 'separate', 'grpc'] as const;

/** See {@link audienceOf}. */
export type Audience = (typeof AUDIENCES)[number];

/** What every gRPC implementation begins its user agent with; Envoy's is `envoy`. */
const GRPC_AGENT = 'gRPC ';

/**
 * `grpc`: applications that use the control plane without a proxy. `aggregated`: Envoys with one stream for
 * everything. `separate`: Envoys with a stream for each type.
 * @param kind the service that the client speaks to.
 */
export function audienceOf({ userAgent }: NodeIdentity, kind: string): Audience {
  if (userAgent.startsWith(GRPC_AGENT)) return 'grpc';
  return kind === 'ads' ? 'aggregated' : 'separate';
}
