import { Metrics } from '../../src/admin/metrics.ts';
import type { CollectRun } from '../../src/core/model/collection.ts';
import { backend, backendDecision, groupDecision } from './decisions.ts';

const GROUP = 'llama';
const [good, lost] = [backend(1), backend(2)];
const decision = groupDecision(
  GROUP,
  [
    backendDecision(good),
    backendDecision(lost, { sample: undefined, sampleAgeMs: undefined, score: undefined, health: undefined }),
  ],
  {
    admission: {
      kind: 'off',
      figures: {
        backends: 1,
        marked: 0,
        medianQueued: 0,
        meanQueued: 0,
        finishedPerSecond: 1,
        waitSeconds: 0,
        medianWaitSeconds: 0,
        engagedAboveSeconds: 2,
        targetSeconds: 0.3,
      },
    },
    zones: [
      {
        zone: 'a',
        backends: 1,
        excess: 0,
        available: 1,
        gain: 1,
        integral: 0,
        overflow: 0.01,
        plain: false,
        factor: 0.01,
        homeShare: 1,
        assignment: { serverGroup: GROUP, endpoints: [], dropShare: 0 },
      },
    ],
  },
);
const run: CollectRun = {
  startedAtMs: 0,
  endedAtMs: 5,
  outcomes: new Map([
    [
      lost.id,
      { kind: 'failure', failure: { kind: 'status', message: 'status 500' }, atMs: 5, durationMs: 5 },
    ],
  ]),
};

/** The metrics page when each thing that counts has happened once: every family has a series. */
export async function fullMetricsPage(): Promise<string> {
  const type = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
  const metrics = new Metrics(
    () => [decision],
    () => decision.atMs,
  );
  metrics.showSidecars(() => ({ total: 1, behind: 0, refusing: 0 }));
  metrics.showWarnings(() => new Map([[GROUP, 0]]));
  const status = {
    source: 'file list.yaml',
    list: { atMs: 0, backends: 1 },
    failure: undefined,
    waiting: undefined,
    leftOut: [],
    doubted: [],
    draining: [],
  };
  metrics.discovery.show(
    () => new Map([[GROUP, status]]),
    () => decision.atMs,
  );
  metrics.discovery.failed(GROUP);
  metrics.evaluated(decision, run);
  metrics.published(decision);
  metrics.delays.acknowledgedAfter(GROUP, 0.02);
  metrics.delays.applied(GROUP, { collect: 0.01, publish: 0.001, sidecars: 0.01 });
  metrics.delays.unapplied(GROUP, 'left', 1);
  metrics.security.certificateTaken(0);
  metrics.security.handshakeFailed('other');
  metrics.streamOpened('ads', 'delta');
  metrics.sent(type, 1);
  metrics.acknowledged(type);
  metrics.rejected(type, 'sidecar-1');
  metrics.unknownName(type);
  metrics.refused('Streams');
  metrics.reloaded('success');
  metrics.loopDelayed(0.001);
  return metrics.page();
}

export interface MetricFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Without those of its buckets. */
  readonly labels: readonly string[];
  readonly hasSeries: boolean;
}

export async function metricFamilies(): Promise<readonly MetricFamily[]> {
  const lines = (await fullMetricsPage()).split('\n');
  return lines.flatMap((line, index) => {
    const [, name, help] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    if (name === undefined || help === undefined) return [];
    const type = lines[index + 1]?.split(' ')[3] ?? '';
    const own = new RegExp(`^${name}(_bucket|_sum|_count)?[{ ]`);
    const series = lines.filter((other) => own.test(other));
    const labels = [...new Set(series.flatMap(labelNames))].filter((label) => label !== 'le');
    return [{ name, type, help, labels, hasSeries: series.length > 0 }];
  });
}

function labelNames(line: string): readonly string[] {
  const [, inside = ''] = /\{(.*)\}/.exec(line) ?? [];
  return [...inside.matchAll(/(\w+)="/g)].map(([, name = '']) => name);
}
