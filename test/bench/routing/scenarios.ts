import { ARMS, type ArmName, type Scenario, type Stretch } from './model.ts';

/** What every scenario compares, at any number of sidecars. */
export const HEADLINE_ARMS: readonly ArmName[] = ['round-robin', 'least-request', 'adaptive'];

/** The number of sidecars that a scenario has where it says nothing else, and the only one of the other arms. */
export const USUAL_SIDECARS = 4;

/** Requests that stay longer need longer until the fleet is in its steady state. */
const TIMES = {
  short: { warmUpSeconds: 10, seconds: 50 },
  long: { warmUpSeconds: 15, seconds: 60 },
} as const;

/**
 * A lasting overload of requests that stay for 8 s: they take most of 40 s to fill the slots, and only then begin to wait.
 * Until then all arms are alike.
 */
const LONG_OVERLOAD = { warmUpSeconds: 45, seconds: 150 } as const;

const QUICK = { warmUpSeconds: 6, seconds: 25 } as const;

const BACKENDS = 8;
/** The load after an overload. */
const FALLEN = 0.6;
/** The share of the counted time that an overload lasts. */
const OVERLOADED = 0.6;
const HALF_AT_HALF_SPEED = Array.from({ length: BACKENDS }, (_, index) => (index < BACKENDS / 2 ? 1 : 2));

/** Without a lasting overload Admission has nothing to do. */
const CALM_ARMS: readonly ArmName[] = ARMS.filter((arm) => arm !== 'adaptive-marks');
const OVERLOAD_ARMS: readonly ArmName[] = [...HEADLINE_ARMS, 'adaptive-marks'];
const EVERY_COUNT = [1, USUAL_SIDECARS, 16] as const;

type Stay = Scenario['stay'];
type Times = Pick<Scenario, 'warmUpSeconds'> & { readonly seconds: number };
/** A scenario without what its stay decides. */
type Sketch = Omit<Scenario, 'stay' | 'backends' | 'warmUpSeconds' | 'stretches'> & {
  readonly backends?: number;
  /** Missing: both. */
  readonly stays?: readonly Stay[];
  /** The stretches of that many counted seconds. */
  readonly load: number | ((seconds: number) => readonly Stretch[]);
  /** With the long stay; missing: those of the headline. */
  readonly longArms?: readonly ArmName[];
  /** With the long stay; missing: those of every scenario. */
  readonly longTimes?: Times;
  /** Numbers of sidecars with the short stay; the long one has the usual number. */
  readonly sidecars?: readonly number[];
};

const SKETCHES: readonly Sketch[] = [
  { name: 'equal-0.6', title: 'equal backends, load 0.6', load: 0.6 },
  {
    name: 'equal-0.85',
    title: 'equal backends, load 0.85',
    load: 0.85,
    arms: CALM_ARMS,
    longArms: CALM_ARMS,
    sidecars: EVERY_COUNT,
  },
  { name: 'equal-0.95', title: 'equal backends, load 0.95', load: 0.95, arms: CALM_ARMS },
  {
    name: 'half-speed-0.8',
    title: 'half at half speed, load 0.8',
    load: 0.8,
    slowness: HALF_AT_HALF_SPEED,
    arms: CALM_ARMS,
    longArms: CALM_ARMS,
    sidecars: EVERY_COUNT,
  },
  {
    name: 'degrading-0.7',
    title: 'one falls to a third of its speed for 30 s, load 0.7',
    load: 0.7,
    happenings: [
      { atSeconds: 10, backend: 2, change: { kind: 'slowness', factor: 3 } },
      { atSeconds: 40, backend: 2, change: { kind: 'slowness', factor: 1 } },
    ],
    arms: CALM_ARMS,
    sidecars: EVERY_COUNT,
  },
  {
    name: 'cold-join-0.7',
    title: 'one joins cold, load 0.7 of the others',
    load: 0.7,
    happenings: [{ atSeconds: 10, backend: BACKENDS - 1, change: { kind: 'join' } }],
    arms: CALM_ARMS,
    sidecars: EVERY_COUNT,
  },
  {
    name: 'bursts-0.7',
    title: 'twice the rate during 3 of every 15 s, mean load 0.7',
    load: (seconds) => [{ seconds, load: 0.7, burst: { factor: 2, seconds: 3, everySeconds: 15 } }],
    arms: CALM_ARMS,
  },
  {
    name: 'overload-1.2',
    title: 'overload of 1.2, then 0.6',
    load: overload(1.2),
    longTimes: LONG_OVERLOAD,
    arms: OVERLOAD_ARMS,
    longArms: OVERLOAD_ARMS,
  },
  {
    name: 'overload-1.5',
    title: 'overload of 1.5, then 0.6',
    load: overload(1.5),
    longTimes: LONG_OVERLOAD,
    arms: ARMS,
    longArms: ARMS,
    sidecars: EVERY_COUNT,
  },
  {
    name: 'overload-2',
    title: 'overload of 2, then 0.6',
    load: overload(2),
    longTimes: LONG_OVERLOAD,
    arms: OVERLOAD_ARMS,
    longArms: OVERLOAD_ARMS,
  },
  {
    name: 'overload-1.5-retries',
    title: 'overload of 1.5, then 0.6; refused requests come back once',
    load: overload(1.5),
    retries: true,
    arms: OVERLOAD_ARMS,
    stays: ['short'],
  },
  {
    name: 'low-rate',
    title: 'one request per sidecar between pushes, half at half speed',
    load: 0.1,
    slowness: HALF_AT_HALF_SPEED,
    stays: ['short'],
  },
  {
    name: 'edge-0.25',
    title: 'light load of 0.25, where weights switch between equal and unequal',
    load: 0.25,
    stays: ['short'],
  },
  {
    name: 'interval-250ms-0.95',
    title: 'Interval 0.25 s, equal backends, load 0.95',
    load: 0.95,
    intervalSeconds: 0.25,
    arms: ['adaptive'],
    longArms: ['adaptive'],
  },
  {
    name: 'interval-5s-0.75',
    title: 'Interval 5 s, equal backends, load 0.75',
    load: 0.75,
    intervalSeconds: 5,
  },
  {
    name: 'interval-15s-0.75',
    title: 'Interval 15 s, equal backends, load 0.75',
    load: 0.75,
    intervalSeconds: 15,
  },
  {
    name: 'interval-15s-half-speed-0.75',
    title: 'Interval 15 s, half at half speed, load 0.75',
    load: 0.75,
    slowness: HALF_AT_HALF_SPEED,
    intervalSeconds: 15,
    stays: ['short'],
  },
  { name: 'lagging-0.75', title: 'gauges 3 s old, load 0.75', load: 0.75, gaugeLagSeconds: 3 },
  {
    name: 'cancelled-0.75',
    title: '30 % of requests cancelled half way, load 0.75',
    load: 0.75,
    cancelledShare: 0.3,
  },
  {
    name: 'failing-scrapes-0.75',
    title: '10 % of scrapes fail, load 0.75',
    load: 0.75,
    failedScrapeShare: 0.1,
    stays: ['short'],
  },
  {
    name: 'metrics-gone-0.7',
    title: "one backend's metrics gone, load 0.7",
    load: 0.7,
    happenings: [{ atSeconds: 5, backend: 2, change: { kind: 'metrics-gone', gone: true } }],
    stays: ['short'],
  },
  {
    name: 'fast-failing-0.7',
    title: 'one backend fails every request in 1 ms and looks idle, load 0.7',
    load: 0.7,
    happenings: [{ atSeconds: 5, backend: 2, change: { kind: 'failing', on: true } }],
    stays: ['short'],
  },
  {
    name: 'hundred-0.2',
    title: '100 backends, every other one at an eighth of the speed, load 0.2: the delay from scrape to ACK',
    load: 0.2,
    backends: 100,
    slowness: Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 1 : 8)),
    arms: ['adaptive'],
    stays: ['short'],
  },
];

/** Every scenario: with the short stay under its own name, with the long one under that and `-long`. */
export const SCENARIOS: readonly Scenario[] = SKETCHES.flatMap((sketch) =>
  (sketch.stays ?? ['short', 'long']).map((stay) => scenarioOf(sketch, stay)),
);

/** What `--quick` plays: three of the scenarios, shortened, with the headline's arms. */
export const QUICK_SCENARIOS: readonly Scenario[] = SKETCHES.filter(({ name }) =>
  ['equal-0.85', 'half-speed-0.8', 'overload-1.5'].includes(name),
).map((sketch) => ({
  ...scenarioOf(sketch, 'short', QUICK),
  arms: HEADLINE_ARMS,
  sidecars: [USUAL_SIDECARS],
}));

export function countedSeconds({ stretches }: Scenario): number {
  return stretches.reduce((sum, { seconds }) => sum + seconds, 0);
}

/**
 * The part of the counted time that goodput, misses, times and 503s are taken from, seconds: in a scenario of overload
 * the overload, elsewhere everything. It is followed by a fall where it ends early.
 */
export function judgedSeconds(scenario: Scenario): number {
  const end = scenario.stretches.findIndex(({ load }) => load <= 1);
  const overloaded = scenario.stretches.slice(0, Math.max(0, end));
  return countedSeconds({ ...scenario, stretches: overloaded }) || countedSeconds(scenario);
}

function scenarioOf(sketch: Sketch, stay: Stay, times: Times = timesOf(sketch, stay)): Scenario {
  const { load, stays: _stays, longArms, longTimes: _longTimes, sidecars, arms, ...rest } = sketch;
  const { warmUpSeconds, seconds } = times;
  return {
    ...rest,
    name: stay === 'short' ? rest.name : `${rest.name}-long`,
    title: stay === 'short' ? rest.title : `${rest.title}; long stays`,
    backends: rest.backends ?? BACKENDS,
    stay,
    warmUpSeconds,
    stretches: typeof load === 'number' ? [{ seconds, load }] : load(seconds),
    arms: (stay === 'short' ? arms : longArms) ?? HEADLINE_ARMS,
    sidecars: stay === 'short' && sidecars !== undefined ? sidecars : [USUAL_SIDECARS],
  };
}

function timesOf({ longTimes }: Sketch, stay: Stay): Times {
  return (stay === 'long' ? longTimes : undefined) ?? TIMES[stay];
}

function overload(load: number): (seconds: number) => readonly Stretch[] {
  return (seconds) => [
    { seconds: seconds * OVERLOADED, load },
    { seconds: seconds * (1 - OVERLOADED), load: FALLEN },
  ];
}
