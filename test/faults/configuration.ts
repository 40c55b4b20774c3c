import type { Place } from './place.ts';

export const GROUP = 'llama';

/** What an operator may change while all runs; what is absent stays as it is. */
export interface ConfigurationChange {
  /** Of the server group. */
  readonly group?: string;
  /** Seconds. */
  readonly interval?: number;
  /** Configured weight by index of the backend; default 100. */
  readonly weights?: ReadonlyMap<number, number>;
  /** Indexes of the backends that are no servers. */
  readonly without?: readonly number[];
  /** Lines of YAML in the scheduler. */
  readonly scheduler?: string;
  /** Lines of YAML in `HttpMetricCollect`. */
  readonly collect?: string;
  /** Lines of YAML in the server group. */
  readonly inGroup?: string;
  /** Lines of YAML in `Discovery`: backends are found so, and there are no servers. */
  readonly discovery?: string;
}

export interface Fixed {
  /** `HOST:PORT` */
  readonly xds: string;
  readonly admin: string;
  readonly listenerPort: number;
  /** The folder of `tls.crt` and `tls.key`; absent: no TLS. */
  readonly tls?: string;
}

const INTERVAL_SECONDS = 1;

/** The configuration file of the control plane. */
export function configurationOf(places: readonly Place[], fixed: Fixed, change: ConfigurationChange): string {
  const { group = GROUP, interval = INTERVAL_SECONDS, weights, without = [] } = change;
  const servers = places.flatMap(({ address, port }, index) =>
    without.includes(index)
      ? []
      : [`      - {Address: "${address}", Port: ${port}, Weight: ${weights?.get(index) ?? 100}}`],
  );
  const list = servers.length === 0 ? '    Servers: []' : ['    Servers:', ...servers].join('\n');
  const { discovery } = change;
  const backends = discovery === undefined ? list : `    Discovery:\n${indented(discovery, 6).trimEnd()}`;
  const tls =
    fixed.tls === undefined
      ? undefined
      : `Tls: {CertFile: ${fixed.tls}/tls.crt, KeyFile: ${fixed.tls}/tls.key}`;
  return `Xds:
  Listen: "${fixed.xds}"
  DrainSeconds: 0.1
${indented(tls, 2)}Admin: {Listen: "${fixed.admin}"}
Log:   {Format: json}
ServerGroups:
  - Name: ${group}
    Scheduler: Wrr
    ServiceExtension: load-aware
${indented(change.inGroup, 4)}${backends}
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector:
            Timeout: 1
            Interval: ${interval}
            HttpMetricCollect:
              Path: /metrics
${indented(change.collect, 14)}          Scheduler:
${indented(change.scheduler, 12)}            Scorers:
              - {Name: TotalQueuedRequests, Weight: 50}
              - {Name: KVCacheUtilization, Weight: 30}
              - {Name: RunningRequests, Weight: 20}
Listeners:
  - {Name: inference, Address: 127.0.0.1, Port: ${fixed.listenerPort}, ServerGroup: ${group}}
`;
}

function indented(lines: string | undefined, by: number): string {
  if (lines === undefined) return '';
  return lines
    .split('\n')
    .map((line) => `${' '.repeat(by)}${line}\n`)
    .join('');
}
