import { at, isSet, listAt, numberAt, percentAt, secondsAt, textAt, typeAt } from './json.ts';
import type {
  BalancingView,
  ChecksView,
  ClusterView,
  HostsView,
  LimitsView,
  OutlierView,
  SourceView,
  StreamView,
} from './view.ts';

export const HTTP_OPTIONS = [
  'typed_extension_protocol_options',
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
] as const;

/** In an `ApiConfigSource`. */
export const GOOGLE_GRPC = ['grpc_services', 0, 'google_grpc'] as const;

/**
 * @param ads `ads_config` of the bootstrap
 * @param status what `/clusters?format=json` has of it
 * @returns undefined: its endpoints come from no control plane
 */
export function readCluster(
  cluster: unknown,
  { ads, status, warming }: { readonly ads: unknown; readonly status: unknown; readonly warming: boolean },
): ClusterView | undefined {
  const name = textAt(cluster, 'name');
  const source = sourceOf(at(cluster, 'eds_cluster_config', 'eds_config'), ads);
  if (name === undefined || textAt(cluster, 'type') !== 'EDS' || source === undefined) return undefined;
  return {
    name,
    serviceName: textAt(cluster, 'eds_cluster_config', 'service_name') || name,
    statName: (textAt(cluster, 'alt_stat_name') || name).replaceAll(':', '_'),
    warming,
    source,
    panicPercent: percentAt(cluster, 'common_lb_config', 'healthy_panic_threshold'),
    mergeWindow: secondsAt(cluster, 'common_lb_config', 'update_merge_window'),
    balancing: balancingOf(cluster),
    limits: limitsOf(cluster),
    ...httpOptionsOf(cluster),
    outliers: isSet(cluster, 'outlier_detection') ? outliersOf(at(cluster, 'outlier_detection')) : undefined,
    checks: checksOf(cluster),
    sessionStatuses: listAt(cluster, 'common_lb_config', 'override_host_status', 'statuses').map(String),
    hosts: status === undefined ? undefined : hostsOf(listAt(status, 'host_statuses')),
  };
}

function sourceOf(config: unknown, ads: unknown): SourceView | undefined {
  const isAds = isSet(config, 'ads');
  const api = isAds ? ads : at(config, 'api_config_source');
  if (!isAds && api === undefined) return undefined;
  return {
    stream: isAds ? 'ads' : 'own',
    apiType: textAt(api, 'api_type'),
    controlPlane: controlPlaneOf(api),
    initialFetchTimeout: secondsAt(config, 'initial_fetch_timeout'),
  };
}

/** The control plane that an `ApiConfigSource` goes to: the name of its cluster, or what its stats are called. */
export function controlPlaneOf(api: unknown): string | undefined {
  return (
    textAt(api, 'grpc_services', 0, 'envoy_grpc', 'cluster_name') ??
    textAt(api, ...GOOGLE_GRPC, 'stat_prefix')
  );
}

/** How a stream comes back after an outage. @param cluster undefined: the aggregated stream */
export function streamOf(api: unknown, cluster: { name: string; statName: string } | undefined): StreamView {
  const backOff = at(api, 'grpc_services', 0, 'envoy_grpc', 'retry_policy', 'retry_back_off');
  return {
    cluster: cluster?.name,
    statPrefix: cluster === undefined ? 'control_plane' : `cluster.${cluster.statName}.control_plane`,
    hasRetryBackOff: isSet(api, ...GOOGLE_GRPC) ? null : backOff !== undefined,
    retryMaxInterval: secondsAt(backOff, 'max_interval'),
  };
}

function balancingOf(cluster: unknown): BalancingView {
  const common = at(cluster, 'common_lb_config');
  const extension = at(
    cluster,
    'load_balancing_policy',
    'policies',
    0,
    'typed_extension_config',
    'typed_config',
  );
  if (extension !== undefined) return extensionOf(extension);
  const policy = textAt(cluster, 'lb_policy') ?? 'ROUND_ROBIN';
  const own = at(cluster, policy === 'LEAST_REQUEST' ? 'least_request_lb_config' : 'round_robin_lb_config');
  return {
    policy,
    bias: numberAt(own, 'active_request_bias', 'default_value'),
    slowStart: isSet(own, 'slow_start_config'),
    localityWeighted: isSet(common, 'locality_weighted_lb_config'),
    zoneRouting: percentAt(common, 'zone_aware_lb_config', 'routing_enabled'),
    subsets: isSet(cluster, 'lb_subset_config'),
    extension: false,
  };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  RoundRobin: 'ROUND_ROBIN',
  LeastRequest: 'LEAST_REQUEST',
};

function extensionOf(config: unknown): BalancingView {
  const type = typeAt(config) ?? '';
  return {
    policy: Object.hasOwn(EXTENSIONS, type) ? (EXTENSIONS[type] ?? type) : type,
    bias: numberAt(config, 'active_request_bias', 'default_value'),
    slowStart: isSet(config, 'slow_start_config'),
    localityWeighted: isSet(config, 'locality_lb_config', 'locality_weighted_lb_config'),
    zoneRouting: percentAt(config, 'locality_lb_config', 'zone_aware_lb_config', 'routing_enabled'),
    subsets: false,
    extension: true,
  };
}

function limitsOf(cluster: unknown): LimitsView {
  const thresholds = listAt(cluster, 'circuit_breakers', 'thresholds');
  const ours = thresholds.find((one) => (textAt(one, 'priority') ?? 'DEFAULT') === 'DEFAULT');
  return {
    max_connections: numberAt(ours, 'max_connections'),
    max_pending_requests: numberAt(ours, 'max_pending_requests'),
    max_requests: numberAt(ours, 'max_requests'),
    max_retries: numberAt(ours, 'max_retries'),
    hasRetryBudget: isSet(ours, 'retry_budget'),
  };
}

function httpOptionsOf(cluster: unknown): Pick<ClusterView, 'idleTimeout' | 'maxStreamDuration'> {
  const inOptions = at(cluster, ...HTTP_OPTIONS, 'common_http_protocol_options');
  const common = inOptions ?? at(cluster, 'common_http_protocol_options');
  return {
    idleTimeout: secondsAt(common, 'idle_timeout'),
    maxStreamDuration: secondsAt(common, 'max_stream_duration'),
  };
}

function checksOf(cluster: unknown): ChecksView | undefined {
  const [first, ...others] = listAt(cluster, 'health_checks');
  if (first === undefined) return undefined;
  const idle = [first, ...others].map((check) => secondsAt(check, 'no_traffic_interval'));
  return {
    interval: secondsAt(first, 'interval'),
    noTrafficInterval: idle.includes(undefined)
      ? undefined
      : idle.includes(null)
        ? null
        : Math.max(...idle.map(Number)),
    ignoredOnRemoval: at(cluster, 'ignore_health_on_host_removal') === true,
  };
}

function outliersOf(detection: unknown): OutlierView {
  return {
    maxEjectionPercent: numberAt(detection, 'max_ejection_percent'),
    consecutive5xx: numberAt(detection, 'consecutive_5xx'),
    enforcingConsecutive5xx: numberAt(detection, 'enforcing_consecutive_5xx'),
    consecutiveGatewayFailure: numberAt(detection, 'consecutive_gateway_failure'),
    enforcingConsecutiveGatewayFailure: numberAt(detection, 'enforcing_consecutive_gateway_failure'),
    enforcingSuccessRate: numberAt(detection, 'enforcing_success_rate'),
  };
}

const OUT = ['UNHEALTHY', 'TIMEOUT', 'DRAINING'];

function hostsOf(statuses: readonly unknown[]): HostsView {
  const healths = statuses.map((status) => at(status, 'health_status'));
  const eds = healths.map((health) => textAt(health, 'eds_health_status') ?? 'UNKNOWN');
  const failed = (flag: string) => healths.map((health) => at(health, flag) === true);
  const ejected = failed('failed_outlier_check');
  const failedCheck = failed('failed_active_health_check');
  return {
    total: statuses.length,
    healthy: eds.filter((health, index) => !OUT.includes(health) && !ejected[index] && !failedCheck[index])
      .length,
    unhealthy: eds.filter((health) => health === 'UNHEALTHY' || health === 'TIMEOUT').length,
    draining: eds.filter((health) => health === 'DRAINING').length,
    ejected: ejected.filter(Boolean).length,
    failedCheck: failedCheck.filter(Boolean).length,
  };
}
