import type { Sample } from '../../src/core/model/collection.ts';
import type { GroupDecision } from '../../src/core/model/decision.ts';
import { type Answer, Fleet, type FleetOptions } from './fleet.ts';
import { random } from './random.ts';
import { SlotEngine } from './slot-engine.ts';

/** What a backend's page says in place of the truth. */
export type Lie = (truth: Sample, second: number) => Answer;

export interface LyingFleet extends Pick<FleetOptions, 'intervalSeconds' | 'envoyLbPolicy' | 'policy'> {
  /** Of each backend's engine; 1: a request takes `staySeconds` on average. */
  readonly speeds: readonly number[];
  readonly slots?: number;
  readonly staySeconds?: number;
  /** Of what the engines can do together, at a second of the run. */
  readonly load: number | ((second: number) => number);
  readonly seconds: number;
  /** How many balance; with `LeastRequest` each weighs in its own requests. */
  readonly sidecars?: number;
  /** By backend; none: it tells the truth. */
  readonly lies?: Readonly<Record<number, Lie>>;
  /** From then on, s. */
  readonly liesFrom?: number;
  /** Backends whose requests end at once, counted as finished. */
  readonly failing?: readonly number[];
  /** Backends whose requests take so many times as long for another reason than speed. */
  readonly longer?: Readonly<Record<number, number>>;
  /** The part of the requests that comes evenly, past the sidecars. */
  readonly outside?: number;
  /** Whether pages have the engines' end-to-end latency, the true one whatever else they say. */
  readonly hasLatency?: boolean;
  readonly seed?: number;
}

export interface LyingResult {
  readonly decisions: readonly GroupDecision[];
  /** Requests that each backend was sent, by second. */
  readonly sent: readonly (readonly number[])[];
}

const TICK_SECONDS = 0.05;

/** A fleet whose load follows the weights, with backends that lie about theirs. */
export function runLyingFleet(options: LyingFleet): LyingResult {
  const {
    speeds,
    slots = 16,
    staySeconds = 8,
    seconds,
    intervalSeconds = 1,
    envoyLbPolicy = 'RoundRobin',
  } = options;
  const {
    sidecars = 4,
    lies = {},
    liesFrom = 0,
    failing = [],
    longer = {},
    outside = 0,
    hasLatency = false,
    seed = 1,
    policy = 'Adaptive',
  } = options;
  const next = random(seed);
  const engines = speeds.map((speed) => new SlotEngine(speed, slots, staySeconds));
  const perSecond = (speeds.reduce((sum, speed) => sum + speed, 0) * slots) / staySeconds;
  const active = Array.from({ length: sidecars }, () => speeds.map(() => 0));
  const failed = speeds.map(() => 0);
  const fleet = new Fleet(speeds.length, { intervalSeconds, envoyLbPolicy, policy });
  const decisions: GroupDecision[] = [];
  const sent: number[][] = [];
  const latencyOf = (index: number): Sample['latency'] => {
    const { sumSeconds = 0, count = 0 } = engines[index]?.latency ?? {};
    return { sumSeconds, count: count + (failed[index] ?? 0) };
  };
  const page = (index: number, second: number): Answer => {
    const truth = engines[index]?.sample as Sample;
    const counted = { ...truth, finished: (truth.finished ?? 0) + (failed[index] ?? 0) };
    const lie = second < liesFrom ? undefined : lies[index];
    const told = lie === undefined ? counted : lie(counted, second);
    return hasLatency && typeof told === 'object' ? { ...told, latency: latencyOf(index) } : told;
  };
  const choose = (counts: readonly number[]): number => {
    const weights = (decisions.at(-1)?.backends ?? []).map((of, index) =>
      envoyLbPolicy === 'LeastRequest' ? of.share / ((counts[index] ?? 0) + 1) ** 2 : of.share,
    );
    let left = next() * weights.reduce((sum, weight) => sum + weight, 0);
    return weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
  };
  const send = (second: number): void => {
    const counts = active[Math.floor(next() * sidecars)] as number[];
    const index = outside > 0 && next() < outside ? Math.floor(next() * speeds.length) : choose(counts);
    const engine = engines[index];
    if (engine === undefined) return;
    const row = sent[second] as number[];
    row[index] = (row[index] ?? 0) + 1;
    if (failing.includes(index)) {
      failed[index] = (failed[index] ?? 0) + 1;
      return;
    }
    counts[index] = (counts[index] ?? 0) + 1;
    const work = -Math.log(1 - next()) * staySeconds * (longer[index] ?? 1);
    engine.admit(work, () => {
      counts[index] = (counts[index] ?? 0) - 1;
    });
  };
  for (let second = 0; second < seconds; second++) {
    if (second % intervalSeconds === 0)
      decisions.push(fleet.step(speeds.map((_, index) => page(index, second))));
    sent.push(speeds.map(() => 0));
    const load = typeof options.load === 'number' ? options.load : options.load(second);
    for (let tick = 0; tick < 1 / TICK_SECONDS; tick++) {
      for (let due = perSecond * load * TICK_SECONDS; next() < due; due--) send(second);
      for (const engine of engines) engine.tick(TICK_SECONDS);
    }
  }
  return { decisions, sent };
}

/** How many times its fair share of the requests a backend was sent over these seconds. */
export function timesFair({ sent }: LyingResult, index: number, from: number, to: number): number {
  const rows = sent.slice(from, to);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const all = sum(rows.map(sum));
  return (sum(rows.map((row) => row[index] ?? 0)) * (rows[0]?.length ?? 0)) / all;
}

/** The kinds of lies. The counter of finished requests is honest unless the name says something else. */
export const LIES = {
  zero: ({ finished }) => ({ queued: 0, running: 0, kvUtilization: 0, finished }),
  zeroAndStill: () => ({ queued: 0, running: 0, kvUtilization: 0, finished: 1000 }),
  idle: () => ({ queued: 0, running: 1, kvUtilization: 0.01, finished: 1000 }),
  tenth: ({ queued, running, kvUtilization, finished }) => ({
    queued: Math.floor((queued ?? 0) / 10),
    running: Math.floor((running ?? 0) / 10),
    kvUtilization: (kvUtilization ?? 0) / 10,
    finished,
  }),
  half: ({ queued, running, kvUtilization, finished }) => ({
    queued: Math.floor((queued ?? 0) / 2),
    running: Math.floor((running ?? 0) / 2),
    kvUtilization: (kvUtilization ?? 0) / 2,
    finished,
  }),
  jumping: ({ queued, running, kvUtilization, finished }, second) => {
    const factor = second % 2 === 0 ? 10 : 0.1;
    return {
      queued: Math.floor((queued ?? 0) * factor),
      running: Math.floor((running ?? 0) * factor),
      kvUtilization: Math.min(1, (kvUtilization ?? 0) * factor),
      finished,
    };
  },
  stuck: ({ finished }) => ({ queued: 0, running: 2, kvUtilization: 0.05, finished }),
  fifth: ({ queued, running, kvUtilization, finished }) => ({
    queued: Math.floor((queued ?? 0) / 5),
    running: Math.ceil((running ?? 0) / 5),
    kvUtilization: (kvUtilization ?? 0) / 5,
    finished,
  }),
  most: ({ finished }) => ({ queued: 1e9, running: 1e9, kvUtilization: 1, finished }),
  zeroWithoutCounter: () => ({ queued: 0, running: 0, kvUtilization: 0, finished: undefined }),
} satisfies Record<string, Lie>;
