import { pino } from 'pino';
import { Collector } from '../../src/collect/collector.ts';
import type { PageResult, PageSource } from '../../src/collect/page-source.ts';
import type { Backend } from '../../src/core/model/backend.ts';
import type { ScorerName } from '../../src/core/model/balance-settings.ts';
import type { CollectOutcome, CollectRun } from '../../src/core/model/collection.ts';
import { sleep } from '../../src/runtime/clock.ts';
import { collectSettings } from './collect-settings.ts';
import { FakeClock } from './fake-clock.ts';

/** What a backend does with a fetch: answer after some milliseconds, or never (undefined). */
interface Behaviour {
  readonly afterMs: number | undefined;
  readonly result?: PageResult;
  readonly throws?: Error;
}

export function page(queued: number, kv: number | string = 0.25): PageResult {
  const text = `vllm:num_requests_waiting ${queued}\nvllm:num_requests_running 1\nvllm:kv_cache_usage_perc ${kv}\n`;
  return { kind: 'page', page: Buffer.from(text) };
}

export const timeout: PageResult = { kind: 'failure', failure: { kind: 'timeout', message: 'timeout' } };
export const refused: PageResult = { kind: 'failure', failure: { kind: 'refused', message: 'refused' } };

/** A collector over backends whose answers the test sets, on a fake clock that starts at 500. */
export class CollectorBench {
  readonly clock = new FakeClock(500);
  readonly behaviours = new Map<string, Behaviour>();
  readonly runs: CollectRun[] = [];
  /** `time id` of each fetch, the time from the start of the clock. */
  readonly fetches: string[] = [];
  readonly closed: string[] = [];
  readonly log: Record<string, unknown>[] = [];
  readonly collector: Collector;

  constructor(
    timing: { timeoutSeconds?: number; intervalSeconds?: number } = {},
    scorers?: readonly ScorerName[],
  ) {
    this.collector = new Collector({
      settings: collectSettings({ leanScrape: false, ...timing }),
      ...(scorers === undefined ? {} : { requiredScorers: scorers }),
      clock: this.clock,
      log: pino(
        { base: null },
        { write: (line) => this.log.push(JSON.parse(line) as Record<string, unknown>) },
      ),
      openSource: (of) => this.#source(of),
    });
  }

  set(of: Backend, afterMs: number | undefined, result: PageResult = page(3)): void {
    this.behaviours.set(of.id, { afterMs, result });
  }

  start(...backends: readonly Backend[]): void {
    this.collector.setBackends(backends);
    this.collector.start((run) => this.runs.push(run));
  }

  /** Stops in the middle of whatever is going on. */
  async stop(): Promise<void> {
    const stopped = this.collector.stop();
    await this.clock.advance(2000);
    await stopped;
  }

  /** Start and end of each run, from the start of the clock. */
  get spans(): readonly string[] {
    return this.runs.map((run) => `${run.startedAtMs - 500}..${run.endedAtMs - 500}`);
  }

  /** The latest run's outcomes: queued requests and the time of the answer, or the reason. */
  get latest(): Readonly<Record<string, string>> {
    const outcomes = [...(this.runs.at(-1)?.outcomes ?? [])];
    return Object.fromEntries(outcomes.map(([id, outcome]) => [id, describeOutcome(outcome)]));
  }

  #source(of: Backend): PageSource {
    return {
      fetch: async (signal) => {
        this.fetches.push(`${this.clock.now() - 500} ${of.id}`);
        const { afterMs, result = page(0), throws } = this.behaviours.get(of.id) ?? { afterMs: 0 };
        const answered = await sleep(this.clock, afterMs ?? 1e9, signal);
        if (throws !== undefined) throw throws;
        return answered ? result : timeout;
      },
      close: () => {
        this.closed.push(of.id);
        return Promise.resolve();
      },
    };
  }
}

function describeOutcome(outcome: CollectOutcome): string {
  const at = `at ${outcome.atMs - 500} after ${outcome.durationMs}`;
  return `${whatOf(outcome)} ${at}`;
}

/** Queued requests, that the engine sleeps, or the reason for which there is nothing. */
export function whatOf(outcome: CollectOutcome): string {
  switch (outcome.kind) {
    case 'sample':
      return String(outcome.sample.queued);
    case 'asleep':
      return 'asleep';
    case 'failure':
      return outcome.failure.kind;
  }
}
