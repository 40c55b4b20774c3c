import { evaluate, type GroupState, initialState } from '../../src/core/evaluate.ts';
import type { Backend } from '../../src/core/model/backend.ts';
import type { BalanceSettings, SaturationSettings, Scorer } from '../../src/core/model/balance-settings.ts';
import type { CollectFailureKind, CollectOutcome, Sample } from '../../src/core/model/collection.ts';
import type { BackendDecision, GroupDecision } from '../../src/core/model/decision.ts';
import type { EnvoyLbPolicy, ServerGroup, ServerGroupMode } from '../../src/core/model/server-group.ts';
import { collectSettings } from './collect-settings.ts';
import { backend } from './decisions.ts';

/** A sample's values, that the engine sleeps, a failure's kind, or nothing yet. */
export type Answer = Partial<Sample> | 'asleep' | CollectFailureKind | undefined;

export const SCORERS: readonly Scorer[] = [
  { name: 'TotalQueuedRequests', weight: 50 },
  { name: 'KVCacheUtilization', weight: 30 },
  { name: 'RunningRequests', weight: 20 },
];

/** The marks of the example, with admission. */
export const PROPORTIONAL: SaturationSettings = {
  totalQueuedRequests: { mark: 10, clear: 3 },
  kvCacheUtilization: { mark: 0.98 },
  runningRequests: undefined,
  admission: 'Proportional',
};

export interface FleetOptions extends Partial<BalanceSettings> {
  readonly intervalSeconds?: number;
  readonly envoyLbPolicy?: EnvoyLbPolicy;
  readonly delaySeconds?: number;
  readonly mode?: ServerGroupMode;
  readonly locality?: 'None' | 'Prefer';
  readonly sharesBackends?: boolean;
  readonly keepsSessions?: boolean;
}

/** A group with the settings of the example: Adaptive, marks 10 and 3 and no admission, interval 1 s, `RoundRobin` sidecars. */
export function loadAwareGroup(servers: readonly Backend[], options: FleetOptions = {}): ServerGroup {
  const { intervalSeconds = 1, envoyLbPolicy = 'RoundRobin', mode = 'Active', ...rest } = options;
  const { delaySeconds: _, locality, sharesBackends, keepsSessions, ...balance } = rest;
  return {
    name: 'llama',
    mode,
    envoyLbPolicy,
    retryAfterSeconds: 1,
    outlierDetection: true,
    servers,
    ...(locality && { locality }),
    ...(sharesBackends && { sharesBackends }),
    ...(keepsSessions && { keepsSessions }),
    loadAware: {
      collect: collectSettings({ intervalSeconds }),
      balance: {
        scorers: SCORERS,
        policy: 'Adaptive',
        saturation: { ...PROPORTIONAL, admission: 'None' },
        onCollectFailure: 'Keep',
        ...balance,
      },
    },
  };
}

/** A full sample; an idle engine unless told otherwise. */
export function sampleOf(values: Partial<Sample> = {}): Sample {
  return { queued: 0, running: 0, kvUtilization: 0, finished: 0, latency: undefined, ...values };
}

/** Evaluates a group again and again, one interval apart, on the answers that a test gives. */
export class Fleet {
  readonly #options: FleetOptions;
  #group: ServerGroup;
  #state: GroupState = initialState();
  #now = 1_000_000;

  /** @param servers how many of weight 100, or which */
  constructor(servers: number | readonly Backend[], options: FleetOptions = {}) {
    const list = typeof servers === 'number' ? backends(servers) : servers;
    this.#options = options;
    this.#group = loadAwareGroup(list, options);
  }

  get nowMs(): number {
    return this.#now;
  }

  get servers(): readonly Backend[] {
    return this.#group.servers;
  }

  /** Puts other backends or settings in force, as a reload does. */
  reload(servers: readonly Backend[], options: FleetOptions = this.#options): void {
    this.#group = loadAwareGroup(servers, options);
  }

  /**
   * The next evaluation, on one answer for each backend in the group's order.
   * @param ageMs how long before it the answers came
   * @param afterSeconds how long after the previous one; undefined: an interval
   */
  step(
    answers: readonly Answer[],
    ageMs = 0,
    afterSeconds = this.#options.intervalSeconds ?? 1,
  ): GroupDecision {
    const { delaySeconds = 0.1 } = this.#options;
    this.#now += 1000 * afterSeconds;
    const outcomes = new Map<string, CollectOutcome>();
    for (const [index, { id }] of this.#group.servers.entries()) {
      const outcome = outcomeOf(answers[index], this.#now - ageMs);
      if (outcome !== undefined) outcomes.set(id, outcome);
    }
    const run = { startedAtMs: this.#now - 50, endedAtMs: this.#now, outcomes };
    const result = evaluate(this.#state, { group: this.#group, nowMs: this.#now, run, delaySeconds });
    this.#state = result.state;
    return result.decision;
  }

  /** The same answers for so many evaluations; the last decision. */
  steps(count: number, answers: readonly Answer[] | ((step: number) => readonly Answer[])): GroupDecision {
    let decision: GroupDecision | undefined;
    for (let step = 0; step < count; step++) {
      decision = this.step(typeof answers === 'function' ? answers(step) : answers);
    }
    if (decision === undefined) throw new Error(`steps(${count}): at least one`);
    return decision;
  }
}

export function backends(count: number): readonly Backend[] {
  return Array.from({ length: count }, (_, index) => backend(index + 1));
}

export function outcomeOf(answer: Answer, nowMs: number): CollectOutcome | undefined {
  if (answer === undefined) return undefined;
  const atMs = nowMs;
  if (answer === 'asleep') return { kind: 'asleep', atMs, durationMs: 5, bytes: 300 };
  if (typeof answer === 'string') {
    return { kind: 'failure', failure: { kind: answer, message: answer }, atMs, durationMs: 5 };
  }
  return { kind: 'sample', sample: sampleOf(answer), engine: 'Vllm', atMs, durationMs: 5, bytes: 300 };
}

export function uses(decision: GroupDecision): readonly string[] {
  return decision.backends.map((of) => of.use);
}

export function healths(decision: GroupDecision): readonly (string | undefined)[] {
  return decision.backends.map((of) => of.health);
}

/** Undithered weights over their mean, two decimals. */
export function relative(decision: GroupDecision): readonly number[] {
  return decision.backends.map((of) => Math.round(of.relativeWeight * 100) / 100);
}

export function one(decision: GroupDecision, index: number): BackendDecision {
  const found = decision.backends[index];
  if (found === undefined)
    throw new Error(`no backend ${index} in a decision on ${decision.backends.length}`);
  return found;
}
