import { toYaml } from '../config/to-yaml.ts';
import type { EnvoyLbPolicy } from '../core/model/server-group.ts';
import { edsBootstrap } from '../xds/bootstrap.ts';
import { clusterJson } from '../xds/resources/cluster.ts';
import { ownStreamSource } from '../xds/resources/config-source.ts';
import { listenerJson } from '../xds/resources/listener.ts';
import { routeJson } from '../xds/resources/route.ts';
import type { Mend } from './finding.ts';
import { at, listAt, type Path } from './json.ts';

/** What is to be mended is shown as `plimsoll bootstrap --mode eds` would have it. */

const GROUP = { name: 'NAME', retryAfterSeconds: 1, outlierDetection: true };
const LISTENER = { name: 'NAME', address: '0.0.0.0', port: 10_000 };

/** Fields of a cluster that takes its endpoints from Plimsoll. */
export function clusterMend(paths: readonly Path[], envoyLbPolicy: EnvoyLbPolicy = 'LeastRequest'): Mend {
  return part('cluster', clusterJson({ ...GROUP, envoyLbPolicy }, ownStreamSource), paths);
}

/** The same with Envoy's own health checks. */
export function healthCheckMend(path: Path): Mend {
  const healthCheck = {
    path: '/health',
    intervalSeconds: 5,
    timeoutSeconds: 2,
    unhealthyThreshold: 3,
    healthyThreshold: 1,
  };
  const cluster = clusterJson({ ...GROUP, envoyLbPolicy: 'LeastRequest', healthCheck }, ownStreamSource);
  return part('cluster', cluster, [path]);
}

/** Turns zone aware routing off. @param extension in a `load_balancing_policy` */
export function zoneRoutingMend(extension: boolean): Mend {
  const off = { zone_aware_lb_config: { routing_enabled: { value: 0 } } };
  if (!extension) return { into: 'cluster', yaml: toYaml({ common_lb_config: off }) };
  const yaml = `# in the typed_config of load_balancing_policy\n${toYaml({ locality_lb_config: off })}`;
  return { into: 'cluster', yaml };
}

/** Fields of the HTTP connection manager of a listener. */
export function managerMend(...paths: readonly Path[]): Mend {
  const listener = listenerJson(LISTENER, GROUP, { route_config: {} });
  return part(
    'http_connection_manager',
    at(listener, 'filter_chains', 0, 'filters', 0, 'typed_config'),
    paths,
  );
}

/** Fields of a route. */
export function routeMend(...paths: readonly Path[]): Mend {
  return part('route', at(routeJson('NAME', GROUP), 'virtual_hosts', 0, 'routes', 0), paths);
}

/** Fields of the cluster by which Envoy reaches Plimsoll, with TLS. */
export function controlPlaneMend(...paths: readonly Path[]): Mend {
  const settings = {
    xds: [{ host: 'plimsoll.example', port: 18_000 }],
    tls: { caFile: 'tls/ca.crt', own: undefined },
    nodeId: 'NAME',
    nodeCluster: 'NAME',
    adminPort: 9901,
  };
  return part('cluster', listAt(edsBootstrap(settings, []), 'static_resources', 'clusters').at(-1), paths);
}

/** How Envoy asks Plimsoll for endpoints. */
export function grpcServicesMend(): Mend {
  return part('api_config_source', ownStreamSource['api_config_source'], [['grpc_services']]);
}

const GOOGLE_GRPC = {
  channel_args: {
    args: {
      'grpc.keepalive_time_ms': { int_value: 10_000 },
      'grpc.keepalive_timeout_ms': { int_value: 5000 },
      'grpc.http2.max_pings_without_data': { int_value: 0 },
    },
  },
  channel_credentials: { ssl_credentials: { root_certs: { filename: 'tls/ca.crt' } } },
};

/** The same without a cluster, by `google_grpc`; gRPC checks the certificate for the name in `target_uri`. */
export function googleGrpcMend(...paths: readonly Path[]): Mend {
  return part('google_grpc', GOOGLE_GRPC, paths);
}

/** A message with only what is at these paths, as YAML. */
function part(into: Mend['into'], message: unknown, paths: readonly Path[]): Mend {
  const made: Record<string, unknown> = {};
  for (const path of paths) put(made, path, at(message, ...path));
  return { into, yaml: toYaml(made) };
}

function put(into: Record<string, unknown>, path: Path, value: unknown): void {
  let target = into;
  for (const step of path.slice(0, -1)) target = (target[step] ??= {}) as Record<string, unknown>;
  target[path.at(-1) ?? ''] = value;
}
