import type { ArmName } from './model.ts';
import { SCENARIOS, USUAL_SIDECARS } from './scenarios.ts';

/** What a goal asks of a row, most often beside another. Shares are of all offered requests. */
export type Ask =
  /** The difference in misses: its interval is below 0, or holds 0 and reaches at most `widest` from the value. */
  | { readonly kind: 'noise-or-better'; readonly widest: number }
  | { readonly kind: 'misses'; readonly atMost: number }
  | { readonly kind: 'first-token'; readonly quantile: number; readonly atMost: number }
  | { readonly kind: 'goodput'; readonly atLeast: number }
  /** Of the 503s over seconds. */
  | { readonly kind: 'shed-deviation'; readonly atMost: number }
  | { readonly kind: 'health-flips'; readonly atMost: number }
  /** After the fall of the load, in every seed. */
  | { readonly kind: 'recovery'; readonly atMostSeconds: number }
  | { readonly kind: 'no-shedding' }
  /** From the start of the scrapes to the last ACK, p99, in every seed. */
  | { readonly kind: 'delay'; readonly atMostSeconds: number }
  /** Every backend answered the share that was published, within that many standard errors. */
  | { readonly kind: 'published-shares'; readonly standardErrors: number };

export interface Goal {
  /** Heading under which it stands. */
  readonly area: string;
  readonly scenario: string;
  readonly sidecars: number;
  readonly arm: ArmName;
  readonly ask: Ask;
  /** The row it is compared with; absent where the ask looks at one row alone. */
  readonly against?: { readonly scenario: string; readonly arm: ArmName };
}

type Against = ArmName | { readonly arm: ArmName; readonly scenario: string };
interface GoalLine {
  readonly area: string;
  /** Names of the short stay; the goal holds for the long one too where there is one. */
  readonly scenarios: readonly string[];
  readonly sidecars?: number;
  readonly asks: readonly (readonly [Ask, Against?])[];
}

const NOISE: Ask = { kind: 'noise-or-better', widest: 0.02 };
/** At other numbers of sidecars than the usual one: with one, LEAST_REQUEST sees all traffic; with many, little. */
const BY_SIDECARS = ['equal-0.85', 'half-speed-0.8', 'degrading-0.7', 'cold-join-0.7'];
const OVERLOADS = ['overload-1.2', 'overload-1.5', 'overload-2'];

const LINES: readonly GoalLine[] = [
  {
    area: 'equal, 0.6',
    scenarios: ['equal-0.6'],
    asks: [
      [NOISE, 'round-robin'],
      [NOISE, 'least-request'],
    ],
  },
  {
    area: 'equal, 0.85',
    scenarios: ['equal-0.85'],
    asks: [
      [misses(0.6), 'round-robin'],
      [misses(1), 'least-request'],
    ],
  },
  {
    area: 'half at half speed',
    scenarios: ['half-speed-0.8'],
    asks: [
      [{ kind: 'first-token', quantile: 0.95, atMost: 0.5 }, 'round-robin'],
      [misses(0.9), 'least-request'],
    ],
  },
  {
    area: 'degrading one, cold join',
    scenarios: ['degrading-0.7', 'cold-join-0.7'],
    asks: [
      [misses(0.6), 'round-robin'],
      [misses(1), 'least-request'],
    ],
  },
  {
    area: 'metrics gone, fast failing',
    scenarios: ['metrics-gone-0.7', 'fast-failing-0.7'],
    asks: [
      [NOISE, 'round-robin'],
      [misses(1), 'least-request'],
    ],
  },
  {
    area: 'overload',
    scenarios: OVERLOADS,
    asks: [
      [goodput(2), 'round-robin'],
      [goodput(2), 'least-request'],
    ],
  },
  {
    area: 'Interval 0.25 s',
    scenarios: ['interval-250ms-0.95'],
    asks: [[misses(0.85), { arm: 'adaptive', scenario: 'equal-0.95' }]],
  },
  {
    area: 'Interval 15 s, lagging, cancelled',
    scenarios: ['interval-15s-0.75', 'interval-15s-half-speed-0.75', 'lagging-0.75', 'cancelled-0.75'],
    asks: [
      [NOISE, 'round-robin'],
      [misses(1.1), 'least-request'],
    ],
  },
  {
    area: 'low rate',
    scenarios: ['low-rate'],
    asks: [[{ kind: 'published-shares', standardErrors: 3 }]],
  },
  { area: '1 sidecar', scenarios: BY_SIDECARS, sidecars: 1, asks: [[NOISE, 'least-request']] },
  { area: '16 sidecars', scenarios: BY_SIDECARS, sidecars: 16, asks: [[misses(0.4), 'least-request']] },
  {
    area: 'Admission against marks alone',
    scenarios: OVERLOADS,
    asks: [
      [goodput(2), 'adaptive-marks'],
      [{ kind: 'shed-deviation', atMost: 0.5 }, 'adaptive-marks'],
      [{ kind: 'health-flips', atMost: 0.5 }, 'adaptive-marks'],
      [{ kind: 'recovery', atMostSeconds: 15 }],
    ],
  },
  {
    area: 'clients that retry once',
    scenarios: ['overload-1.5-retries'],
    asks: [
      [goodput(2), 'adaptive-marks'],
      [{ kind: 'shed-deviation', atMost: 0.5 }, 'adaptive-marks'],
      [{ kind: 'recovery', atMostSeconds: 15 }],
    ],
  },
  { area: 'no 503 up to 0.85', scenarios: calmScenarios(), asks: [[{ kind: 'no-shedding' }]] },
  {
    area: 'delay, 100 backends',
    scenarios: ['hundred-0.2'],
    asks: [[{ kind: 'delay', atMostSeconds: 0.15 }]],
  },
];

/** All of them, of the default (LeastRequest, Adaptive, Admission). */
export const GOALS: readonly Goal[] = LINES.flatMap(({ area, scenarios, sidecars, asks }) =>
  scenarios.flatMap((name) =>
    ['', '-long']
      .filter((suffix) => hasRows(`${name}${suffix}`, sidecars ?? USUAL_SIDECARS))
      .flatMap((suffix) =>
        asks.map(([ask, against]): Goal => {
          const scenario = `${name}${suffix}`;
          const goal = {
            area,
            scenario,
            sidecars: sidecars ?? USUAL_SIDECARS,
            arm: 'adaptive',
            ask,
          } as const;
          if (against === undefined) return goal;
          if (typeof against === 'string') return { ...goal, against: { arm: against, scenario } };
          return { ...goal, against: { ...against, scenario: `${against.scenario}${suffix}` } };
        }),
      ),
  ),
);

function misses(atMost: number): Ask {
  return { kind: 'misses', atMost };
}

function goodput(atLeast: number): Ask {
  return { kind: 'goodput', atLeast };
}

function hasRows(scenario: string, sidecars: number): boolean {
  return SCENARIOS.some(
    ({ name, sidecars: counts }) => name === scenario && (counts?.includes(sidecars) ?? true),
  );
}

/** Of the short stay, and without one that this file's lines name with `-long` themselves. */
function calmScenarios(): readonly string[] {
  return SCENARIOS.filter(
    ({ stay, stretches }) =>
      stay === 'short' && stretches.every(({ load, burst }) => load <= 0.85 && burst === undefined),
  ).map(({ name }) => name);
}
