import type { HealthCheckSettings, ServerGroup } from '../../core/model/server-group.ts';
import { encodeProtoJson, type ProtoJson, type ProtoJsonMessage } from './proto-json.ts';
import { TYPE_URLS } from './type-urls.ts';

/**
 * The cluster of a server group, named as the group is; its endpoints come from `edsSource`. Made for LLM traffic:
 * limits that a fleet of long requests does not reach, and connections given up before a server closes them.
 */
export function clusterJson(
  group: Pick<ServerGroup, 'name' | 'envoyLbPolicy' | 'outlierDetection' | 'healthCheck'>,
  edsSource: ProtoJsonMessage,
): ProtoJsonMessage {
  return {
    name: group.name,
    type: 'EDS',
    connect_timeout: '1s',
    ...loadBalancing(group),
    eds_cluster_config: { service_name: group.name, eds_config: edsSource },
    common_lb_config: {
      // at Envoy's 50 % it would send traffic to saturated backends as soon as half of them are
      healthy_panic_threshold: { value: 0 },
      // at Envoy's 1 s older releases hold changes of weights back
      update_merge_window: '0s',
      // with a local cluster in its bootstrap a sidecar would keep to its zone, whatever the weights say
      zone_aware_lb_config: { routing_enabled: { value: 0 } },
    },
    circuit_breakers: {
      thresholds: [
        {
          priority: 'DEFAULT',
          max_connections: 1_000_000,
          max_pending_requests: 1_000_000,
          max_requests: 1_000_000,
          max_retries: 1_000,
        },
      ],
    },
    ...(group.outlierDetection ? { outlier_detection: outlierDetection } : {}),
    ...(group.healthCheck === undefined ? {} : healthChecks(group.healthCheck)),
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        // uvicorn closes a connection that is idle for 5 s: a request sent at that moment would be reset
        common_http_protocol_options: { idle_timeout: '4s' },
        explicit_http_config: { http_protocol_options: {} },
      },
    },
  };
}

/**
 * A backend that fails every request at once seems idle, and would draw more and more of them. Five failures in a row put
 * it out: answers of 5xx, and connections refused or reset, which count as such. What Envoy answers by itself, as for a
 * refused share, is of no backend and counts for none.
 */
const outlierDetection: ProtoJsonMessage = {
  consecutive_5xx: 5,
  // how often it looks who may come back; at Envoy's 10 s that would be late
  interval: '1s',
  // the first time; longer each time again, up to a minute: a server that loads its model fails for minutes
  base_ejection_time: '5s',
  max_ejection_time: '60s',
  // at least half always stay in, since without a panic threshold nobody would be left if all were out
  max_ejection_percent: 50,
  // compares success rates by their deviation, which puts a good backend out when one request in a hundred fails
  enforcing_success_rate: 0,
};

/**
 * Envoy asks each backend by itself whether it is alive. A new backend gets its first request when it has answered, and
 * an Envoy that starts waits for that.
 */
function healthChecks(settings: HealthCheckSettings): { readonly [key: string]: ProtoJson } {
  const { path, intervalSeconds, timeoutSeconds, unhealthyThreshold, healthyThreshold } = settings;
  const interval = seconds(intervalSeconds);
  return {
    health_checks: [
      {
        timeout: seconds(timeoutSeconds),
        interval,
        // so that many sidecars do not ask at the same moments
        interval_jitter_percent: 20,
        // at Envoy's 60 s a fleet that comes up after its sidecars would stay out for up to a minute
        no_traffic_interval: interval,
        unhealthy_threshold: unhealthyThreshold,
        healthy_threshold: healthyThreshold,
        // the server may be closing one that has been idle for an interval
        reuse_connection: false,
        http_health_check: {
          path,
          // otherwise one such answer puts a backend out at once
          retriable_statuses: [{ start: 201, end: 600 }],
        },
      },
    ],
    // otherwise a backend that is gone from the assignment stays for as long as it answers
    ignore_health_on_host_removal: true,
  };
}

/** The JSON form of a duration. */
function seconds(value: number): string {
  return `${Number(value.toFixed(3))}s`;
}

function loadBalancing(group: Pick<ServerGroup, 'envoyLbPolicy'>): { readonly [key: string]: ProtoJson } {
  switch (group.envoyLbPolicy) {
    case 'RoundRobin':
      return { lb_policy: 'ROUND_ROBIN' };
    case 'LeastRequest':
      return {
        lb_policy: 'LEAST_REQUEST',
        // weight / (active requests + 1) ^ bias
        least_request_lb_config: {
          active_request_bias: { default_value: 2, runtime_key: 'plimsoll.active_request_bias' },
        },
      };
  }
}

/** The CDS resource of a server group; its name is the group's, and its endpoints come from `edsSource`. */
export function encodeCluster(group: ServerGroup, edsSource: ProtoJsonMessage): Uint8Array {
  return encodeProtoJson(TYPE_URLS.cluster, clusterJson(group, edsSource));
}
