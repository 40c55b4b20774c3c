import type { BackendState } from './backends.ts';
import type { Arm } from './arm.ts';

export const SERVER_GROUP = 'llama';

/**
 * The configuration file of a cell. Sidecars of the arms without Plimsoll are made from it too, so that all arms have
 * the same clusters but for what balances.
 */
export function plimsollConfig(
  arm: Arm,
  members: readonly Omit<BackendState, 'inside'>[],
  intervalSeconds: number,
): string {
  const servers = members.map(({ address, port }) => ({ Address: address, Port: port, Weight: 100 }));
  const group = { Name: SERVER_GROUP, Scheduler: 'Wrr', Servers: servers };
  const file = {
    Xds: { Listen: '127.0.0.1:0', DrainSeconds: 0.1 },
    Admin: { Listen: '127.0.0.1:0' },
    Log: { Format: 'json', Level: 'info' },
    ...(arm.kind === 'envoy'
      ? { ServerGroups: [group] }
      : {
          ServerGroups: [{ ...group, ServiceExtension: 'load-aware', EnvoyLbPolicy: arm.envoyLbPolicy }],
          ServiceExtensions: [{ Name: 'load-aware', Components: [component(arm, intervalSeconds)] }],
        }),
  };
  // JSON is YAML
  return JSON.stringify(file, undefined, 2);
}

function component(arm: Extract<Arm, { readonly kind: 'plimsoll' }>, intervalSeconds: number): object {
  const interval =
    intervalSeconds < 1
      ? { IntervalMilliseconds: Math.round(intervalSeconds * 1000) }
      : { Interval: intervalSeconds };
  return {
    Type: 'LoadAwareRouting',
    Config: {
      MetricCollector: { Timeout: 1, ...interval, HttpMetricCollect: { Path: '/metrics' } },
      Scheduler: {
        Scorers: [
          { Name: 'TotalQueuedRequests', Weight: 50 },
          { Name: 'KVCacheUtilization', Weight: 30 },
          { Name: 'RunningRequests', Weight: 20 },
        ],
        Policy: arm.policy,
        ...(arm.admission === 'None' && { Saturation: { Admission: arm.admission } }),
      },
    },
  };
}
