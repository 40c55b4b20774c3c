import { formatHostPort } from '../runtime/host-port.ts';
import { at, isSet, listAt, numberAt, textAt } from './json.ts';
import { GOOGLE_GRPC, HTTP_OPTIONS } from './read-cluster.ts';
import type { ControlPlaneView, StreamView } from './view.ts';

/** @param streams those that go there by this cluster */
export function readControlPlane(cluster: unknown, streams: readonly StreamView[]): ControlPlaneView {
  const addresses = listAt(cluster, 'load_assignment', 'endpoints')
    .flatMap((locality) => listAt(locality, 'lb_endpoints'))
    .map((endpoint) => at(endpoint, 'endpoint', 'address'));
  const http2 = http2Of(cluster);
  return {
    client: 'cluster',
    name: textAt(cluster, 'name') ?? '',
    addresses: addresses.map(addressOf),
    loopback: addresses.length > 0 && addresses.every(isLoopback),
    http2: http2 !== undefined,
    keepalive: isSet(http2, 'connection_keepalive'),
    tls: tlsOf(cluster),
    ...split(streams),
  };
}

/**
 * The same of one that no cluster leads to. gRPC speaks HTTP/2 only and always checks the name.
 * @param api the `ApiConfigSource` of one of its streams
 */
export function readGoogleGrpc(api: unknown, streams: readonly StreamView[]): ControlPlaneView {
  const service = at(api, ...GOOGLE_GRPC);
  const target = textAt(service, 'target_uri') ?? '?';
  const tls = at(service, 'channel_credentials', 'ssl_credentials');
  const isSystems = isSet(service, 'channel_credentials', 'google_default');
  return {
    client: 'google_grpc',
    name: textAt(service, 'stat_prefix') ?? '',
    addresses: [target],
    loopback: /^(?:\w+:\/*)?(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$|^unix:/.test(target),
    http2: true,
    keepalive: isSet(service, 'channel_args', 'args', 'grpc.keepalive_time_ms'),
    tls: tls === undefined && !isSystems ? undefined : { hasAuthority: true, hasName: true },
    ...split(streams),
  };
}

function split(streams: readonly StreamView[]): Pick<ControlPlaneView, 'ads' | 'own'> {
  return {
    ads: streams.find((stream) => stream.cluster === undefined),
    own: streams.filter((stream) => stream.cluster !== undefined),
  };
}

function http2Of(cluster: unknown): unknown {
  return (
    at(cluster, ...HTTP_OPTIONS, 'explicit_http_config', 'http2_protocol_options') ??
    at(cluster, ...HTTP_OPTIONS, 'auto_config', 'http2_protocol_options') ??
    at(cluster, 'http2_protocol_options')
  );
}

function addressOf(address: unknown): string {
  const path = textAt(address, 'pipe', 'path');
  if (path !== undefined) return path;
  const host = textAt(address, 'socket_address', 'address') ?? '?';
  return formatHostPort(host, numberAt(address, 'socket_address', 'port_value') ?? 0);
}

function isLoopback(address: unknown): boolean {
  if (isSet(address, 'pipe')) return true;
  const host = textAt(address, 'socket_address', 'address') ?? '';
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

function tlsOf(cluster: unknown): ControlPlaneView['tls'] {
  const config = at(cluster, 'transport_socket', 'typed_config');
  const context = at(config, 'common_tls_context');
  if (context === undefined) return undefined;
  const validation =
    at(context, 'validation_context') ??
    at(context, 'combined_validation_context', 'default_validation_context');
  const bySds = isSet(context, 'validation_context_sds_secret_config');
  return {
    hasAuthority:
      bySds ||
      isSet(context, 'combined_validation_context', 'validation_context_sds_secret_config') ||
      ['trusted_ca', 'system_root_certs', 'custom_validator_config'].some((field) =>
        isSet(validation, field),
      ),
    hasName:
      bySds ||
      ['match_typed_subject_alt_names', 'match_subject_alt_names', 'custom_validator_config'].some((field) =>
        isSet(validation, field),
      ) ||
      at(config, 'auto_sni_san_validation') === true,
  };
}
