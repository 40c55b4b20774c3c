import type { BackendId } from '../core/model/backend.ts';

export const SERVER_GROUP = 'llama';
export const LISTENER = 'inference';

export interface DemoConfig {
  readonly backends: readonly { readonly id: BackendId; readonly address: string; readonly port: number }[];
  /** Whether the server group names the load-aware extension; the rest is the same. */
  readonly loadAware: boolean;
  /** HOST:PORT for sidecars; port 0: the kernel's choice. */
  readonly xds: string;
  /** The same for the page. */
  readonly admin: string;
  /** The port of Envoy's listener on 127.0.0.1. */
  readonly listenerPort: number;
}

/** The configuration file of the demo. */
export function demoConfig({ backends, loadAware, xds, admin, listenerPort }: DemoConfig): string {
  const servers = backends.map(
    ({ address, port }) => `      - {Address: "${address}", Port: ${port}, Weight: 100}`,
  );
  return `Xds:   {Listen: "${xds}", DrainSeconds: 0.1}
Admin: {Listen: "${admin}"}
Log:   {Format: json}
ServerGroups:
  - Name: ${SERVER_GROUP}
    Scheduler: Wrr
${loadAware ? '    ServiceExtension: load-aware\n' : ''}    Servers:
${servers.join('\n')}
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector:
            Timeout: 1
            Interval: 1
            HttpMetricCollect: {Path: /metrics}
          Scheduler:
            Scorers:
              - {Name: TotalQueuedRequests, Weight: 50}
              - {Name: KVCacheUtilization, Weight: 30}
              - {Name: RunningRequests, Weight: 20}
Listeners:
  - {Name: ${LISTENER}, Address: 127.0.0.1, Port: ${listenerPort}, ServerGroup: ${SERVER_GROUP}}
`;
}
