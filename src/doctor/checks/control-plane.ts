import { type Finding, Judge } from '../finding.ts';
import { HTTP_OPTIONS } from '../read-cluster.ts';
import { controlPlaneMend, googleGrpcMend, grpcServicesMend } from '../mends.ts';
import { numberOf } from '../read-stats.ts';
import type { ControlPlaneView, EnvoyView, StreamView } from '../view.ts';

const HTTP2 = [...HTTP_OPTIONS, 'explicit_http_config'];
const SILENT =
  'A control plane that is gone without a word is not noticed, and the sidecar does not look for another.';

export function checkHttp2(plane: ControlPlaneView): Finding {
  const { client, name, http2, keepalive } = plane;
  if (client === 'google_grpc') return checkPings(plane);
  const judge = new Judge('http2_protocol_options', { cluster: name });
  const mend = controlPlaneMend([...HTTP_OPTIONS, '@type'], HTTP2);
  if (!http2) {
    return judge.error({
      is: 'not set, so HTTP/1.1',
      shouldBe: 'set',
      why: 'xDS is gRPC, which needs HTTP/2: no stream comes about.',
      mend,
    });
  }
  if (keepalive) return judge.ok('set, with pings');
  return judge.warning({
    is: 'set, without connection_keepalive',
    shouldBe: 'with connection_keepalive',
    why: SILENT,
    mend,
  });
}

function checkPings({ name, keepalive }: ControlPlaneView): Finding {
  const judge = new Judge('channel_args', { cluster: name });
  if (keepalive) return judge.ok('google_grpc, with pings');
  return judge.warning({
    is: 'google_grpc, without grpc.keepalive_time_ms',
    shouldBe: 'with it, 10000 for instance, and grpc.keepalive_timeout_ms',
    why: SILENT,
    mend: googleGrpcMend(['channel_args']),
  });
}

export function checkTls({ client, name, addresses, loopback, tls }: ControlPlaneView): Finding {
  const judge = new Judge('tls', { cluster: name });
  const where = addresses.slice(0, 3).join(', ');
  const mend =
    client === 'cluster' ? controlPlaneMend(['transport_socket']) : googleGrpcMend(['channel_credentials']);
  if (tls === undefined) {
    if (loopback)
      return judge.ok(`none, and ${where} ${addresses.length > 1 ? 'are' : 'is'} on this machine`);
    return judge.warning({
      is: `none, to ${where || 'another machine'}`,
      shouldBe: 'TLS, as the control plane is on another machine',
      why: 'Whoever is between can read the assignments and put in others. Plimsoll needs Xds.Tls for it.',
      mend,
    });
  }
  const missing = [
    ...(tls.hasAuthority ? [] : ['trusted_ca']),
    ...(tls.hasName ? [] : ['match_typed_subject_alt_names']),
  ];
  if (missing.length === 0) return judge.ok("set, and the server's certificate is checked");
  return judge.warning({
    is: `set, without ${missing.join(' and ')}`,
    shouldBe: 'with both',
    why: 'Envoy believes a control plane without checking who it is.',
    mend,
  });
}

/** Of each stream whether it is open, and how fast it is back after an outage. */
export function checkStreams({ name, ads, own }: ControlPlaneView, view: EnvoyView): readonly Finding[] {
  const streams = ads === undefined ? own : [ads, ...own];
  return streams.flatMap((stream) => {
    const cluster = stream.cluster ?? name;
    return [checkConnected(stream, cluster, view), checkBackOff(stream, cluster)];
  });
}

function checkConnected({ statPrefix }: StreamView, cluster: string, { stats }: EnvoyView): Finding {
  const judge = new Judge('connected_state', { cluster });
  const state = numberOf(stats, `${statPrefix}.connected_state`);
  if (state === undefined) return judge.unknown(`there is no stat ${statPrefix}.connected_state`);
  if (state > 0) return judge.ok('connected to the control plane');
  return judge.error({
    is: 'not connected to the control plane',
    shouldBe: 'connected',
    why:
      'Weights and health stay as they were. Is Plimsoll running, at that address, with or without TLS as here? ' +
      "Its log says who does not get through, and why; so does Envoy's.",
  });
}

function checkBackOff({ hasRetryBackOff, retryMaxInterval }: StreamView, cluster: string): Finding {
  const judge = new Judge('retry_back_off', { cluster });
  if (retryMaxInterval === null) return judge.unreadable();
  if (hasRetryBackOff === null) return judge.ok('that of google_grpc, which cannot be set: at most 30 s');
  if (hasRetryBackOff) {
    return judge.ok(
      retryMaxInterval === undefined ? 'set' : `tries again at least each ${retryMaxInterval} s`,
    );
  }
  return judge.warning({
    is: 'not set',
    shouldBe: 'at most 2 s',
    why: 'After an outage of the control plane it takes up to 15 s until the sidecar is back.',
    mend: grpcServicesMend(),
  });
}
