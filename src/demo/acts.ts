import { type Arrival, planArrivals } from './arrivals.ts';
import type { Played } from './live-act.ts';

export type ActNumber = 1 | 2 | 3 | 4 | 5;

/** A stretch of load. Acts 1 and 2 have the same arrivals; 3 to 5 follow each other without a pause. */
export interface Act extends Played {
  readonly number: ActNumber;
  /** What goes on arriving after its seconds if a share is still refused then, for {@link MOST_OVERTIME_SECONDS}. */
  readonly overtime: readonly Arrival[];
}

export interface ActsPlan {
  /** Length of the whole, the waits for last answers included; at least {@link LEAST_SECONDS}. */
  readonly seconds: number;
  readonly seed: number;
  /** Requests per second that the fleet finishes when every queue is full. */
  readonly capacityPerSecond: number;
}

interface Script extends Pick<Act, 'number' | 'title' | 'story'> {
  /** Offered load over what the fleet can finish. */
  readonly load: number;
  /** A rush at the beginning, so that all queues fill soon. */
  readonly rush?: { readonly seconds: number; readonly load: number };
  /** Of the length without the waits; what is missing to 1 is for the queue that act 1 leaves. */
  readonly part: number;
  /** It goes on until no share is refused any more. */
  readonly hasOvertime?: boolean;
  readonly seedOffset: number;
}

/** Shorter acts are too short for what they have to show. */
export const LEAST_SECONDS = 60;
/** The longest that is waited for until no share is refused any more. */
export const MOST_OVERTIME_SECONDS = 20;
/** What the last answers of acts 1, 2 and 5 take, about. */
const WAITS_SECONDS = 13;

const SCRIPTS: readonly Script[] = [
  {
    number: 1,
    title: 'plain weighted round robin',
    story: 'Equal weights: the backend of half speed gets as much as the others, and its queue grows.',
    load: 0.75,
    part: 0.2,
    seedOffset: 0,
  },
  {
    number: 2,
    title: 'load-aware, the same arrivals',
    story:
      'One line of the file later: weights follow queue, KV cache and running; Envoy adds its own in flight.',
    load: 0.75,
    part: 0.2,
    seedOffset: 0,
  },
  {
    number: 3,
    title: 'overload',
    story: 'More than the fleet can do: the share p is refused, the others are served in time.',
    load: 1.5,
    rush: { seconds: 1.5, load: 2.5 },
    part: 0.21,
    seedOffset: 1,
  },
  {
    number: 4,
    title: 'the load falls',
    story: 'The queues shrink, p falls to 0, and every request is served again.',
    load: 0.5,
    part: 0.22,
    hasOvertime: true,
    seedOffset: 2,
  },
  {
    number: 5,
    title: 'the control plane is killed',
    story: 'SIGKILL under load: Envoy keeps the last weights, and no request fails.',
    load: 0.5,
    part: 0.12,
    seedOffset: 3,
  },
];

/** The five acts in order. Equal plans give equal acts. */
export function planActs({ seconds, seed, capacityPerSecond }: ActsPlan): readonly Act[] {
  return SCRIPTS.map(({ number, title, story, load, rush, part, hasOvertime = false, seedOffset }) => {
    const stretch = (atLoad: number, fromSeconds: number, toSeconds: number): readonly Arrival[] =>
      planArrivals({
        seed: (seed * SCRIPTS.length + seedOffset) * 2 + Math.sign(fromSeconds),
        ratePerSecond: atLoad * capacityPerSecond,
        seconds: Math.max(0, toSeconds - fromSeconds),
      }).map((arrival) => ({ ...arrival, atMs: arrival.atMs + fromSeconds * 1000 }));
    const arriving = part * (seconds - WAITS_SECONDS);
    const rushSeconds = Math.min(rush?.seconds ?? 0, arriving);
    const arrivals = [
      ...stretch(rush?.load ?? load, 0, rushSeconds),
      ...stretch(load, rushSeconds, arriving),
    ];
    const end = hasOvertime ? arriving + MOST_OVERTIME_SECONDS : arriving;
    return { number, title, story, seconds: arriving, arrivals, overtime: stretch(load, arriving, end) };
  });
}
