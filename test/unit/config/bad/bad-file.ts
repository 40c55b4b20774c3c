export interface BadFile {
  readonly name: string;
  readonly text: string;
  /** What is printed, without the name of the file: LINE:COLUMN: path: message */
  readonly mistakes: readonly string[];
}

/** A good file, the base of the bad ones. */
export const GOOD = `\
Xds: {Listen: 127.0.0.1:18000}
Admin: {Listen: 127.0.0.1:9090}
ServerGroups:
  - Name: llama
    Scheduler: Wrr
    ServiceExtension: load-aware
    Servers:
      - {Address: 10.0.3.11, Port: 8000, Weight: 100}
      - {Address: 10.0.3.12, Port: 8000, Weight: 100}
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
  - {Name: inference, Address: 0.0.0.0, Port: 10000, ServerGroup: llama}
`;

/** The good file with some of its text replaced. */
export function edit(...replacements: readonly (readonly [from: string, to: string])[]): string {
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the good file has no ${JSON.stringify(from)}`);
    return text.replace(from, () => to);
  }, GOOD);
}
