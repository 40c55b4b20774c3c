import type { ServerOptions } from '@grpc/grpc-js';
import type { XdsSettings } from './settings.ts';

/** How long a connection that has reached its age is still served, at most as long as the age. */
const AGE_GRACE_MS = 5_000;

/**
 * The part of the settings that the gRPC library sees to. It closes connections at their age, give or take a tenth.
 *
 * `StreamsPerConnection` is told to clients when they connect: Envoy opens another connection then, where a refusal
 * would leave a cluster without endpoints. HTTP/2 itself refuses the streams of those who do not listen.
 *
 * Messages beyond twice the limit are refused before they are read. Up to there the stream sees them, to say so.
 */
export function grpcOptions({ limits, keepalive, maxConnectionAgeSeconds }: XdsSettings): ServerOptions {
  return {
    'grpc.max_receive_message_length': 2 * limits.messageBytes,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': keepalive.intervalSeconds * 1000,
    'grpc.keepalive_timeout_ms': keepalive.timeoutSeconds * 1000,
    'grpc.max_concurrent_streams': limits.streamsPerConnection,
    ...(maxConnectionAgeSeconds === undefined
      ? {}
      : {
          'grpc.max_connection_age_ms': maxConnectionAgeSeconds * 1000,
          'grpc.max_connection_age_grace_ms': Math.min(AGE_GRACE_MS, maxConnectionAgeSeconds * 1000),
        }),
    'grpc.enable_channelz': 0,
  };
}
