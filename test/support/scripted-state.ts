import {
  BACKEND_COLUMNS,
  type BackendRow,
  type GroupState,
  HISTORY_SERIES,
  type HistorySeries,
  type SidecarState,
  type State,
  type Trends,
} from '../../src/admin/state-shape.ts';

export const NOW = Date.UTC(2026, 10, 30, 3, 0, 0);

/** A backend that is healthy and has these requests. */
export function healthyRow(running: number, queued = 0, share = 0.1): BackendRow {
  return [
    'HEALTHY',
    null,
    100_000,
    share,
    80,
    queued,
    running,
    Math.min(1, running / 1000),
    0.2,
    'fresh',
    0,
    null,
    null,
  ];
}

/** A group of so many backends; the later the place, the more requests. */
export function scriptedGroup(name: string, count: number, change: Partial<GroupState> = {}): GroupState {
  const backends = Array.from({ length: count }, (_, i): [string, number] => [
    `10.0.${Math.floor(i / 250)}.${(i % 250) + 1}:8000`,
    100,
  ]);
  return {
    name,
    evaluatedAt: NOW,
    mode: 'balanced',
    observing: false,
    gain: 2.5,
    staySeconds: 8,
    discovery: null,
    delaySeconds: 0.1,
    admission: { kind: 'off', share: 0, waitSeconds: 0.05 },
    published: {
      version: '0cc1d615194096d288ec',
      at: NOW - 4000,
      reason: 'shares',
      firstAcknowledgementSeconds: 0.02,
    },
    streams: { following: 2, current: 2 },
    acknowledgementSeconds: 0.03,
    warnings: [],
    zones: [],
    rows: backends.map((_, i) => healthyRow(i, 0, 1 / count)),
    policy: 'Adaptive',
    intervalSeconds: 1,
    membership: 1,
    backends,
    history: scriptedHistory(count),
    ...change,
  };
}

/** 180 points of steps up and down. */
function scriptedHistory(count: number): GroupState['history'] {
  const wave = (i: number, of: number): number => of * (1 + 0.4 * Math.sin(i / 9) + 0.1 * Math.sin(i * 1.7));
  const values: Readonly<Record<HistorySeries, (i: number) => number | null>> = {
    queued: (i) => Math.round(wave(i, count / 4)),
    running: (i) => Math.round(wave(i, count * 20)),
    kvCache: (i) => wave(i, 0.5),
    saturated: (i) => (i > 120 && i < 150 ? 1 : 0),
    silent: () => 0,
    refusedShare: (i) => (i > 120 && i < 140 ? 0.2 : 0),
    gain: () => 2.5,
    leastWeight: (i) => wave(i, 0.6),
    mostWeight: (i) => wave(i, 1.2),
    acknowledgementSeconds: (i) => (i % 4 === 0 ? 0.02 + 0.01 * Math.sin(i) ** 2 : null),
  };
  const entries = HISTORY_SERIES.map((name) => [
    name,
    Array.from({ length: 180 }, (_, i) => values[name](i)),
  ]);
  return { stepMs: 5000, endAt: NOW, series: Object.fromEntries(entries) as GroupState['history']['series'] };
}

export function scriptedTrends({ name, membership, backends }: GroupState): Trends {
  const line = (of: number, seed: number): (number | null)[] =>
    Array.from({ length: 60 }, (_, i) => of * (1 + 0.3 * Math.sin(i / 5 + seed)));
  return {
    serverGroup: name,
    membership,
    stepMs: 15_000,
    endAt: NOW,
    inside: backends.map((_, i) => line(i, i)),
    weight: backends.map((_, i) => line(1, 2 * i)),
  };
}

export function scriptedSidecar(node: string, change: Partial<SidecarState> = {}): SidecarState {
  return {
    node,
    cluster: 'gateway',
    zone: 'zone-a',
    identity: '127.0.0.1',
    peer: '127.0.0.1:41000',
    since: NOW - 600_000,
    streams: ['ads'],
    groups: [{ name: 'llama', version: '0cc1d615194096d288ec', behindSince: null }],
    moreGroups: 0,
    nack: null,
    ...change,
  };
}

export function scriptedState(groups: readonly GroupState[], change: Partial<State> = {}): State {
  return {
    build: { version: '0.1.0', node: 'v20.19.0' },
    instance: 'one',
    startedAt: NOW - 3_600_000,
    now: NOW,
    ready: true,
    warnings: [],
    columns: BACKEND_COLUMNS,
    groups,
    sidecars: {
      total: 2,
      streams: 2,
      behind: 0,
      refusing: 0,
      gone: [],
      shown: [scriptedSidecar('sidecar-1'), scriptedSidecar('sidecar-2')],
    },
    configuration: {
      file: 'plimsoll.yaml',
      yaml: 'ServerGroups:\n  - Name: llama\n',
      inForceSince: NOW - 3_600_000,
      reloads: [{ at: NOW - 3_600_000, because: 'start', outcome: 'taken', changes: [] }],
    },
    ...change,
  };
}
