import type { Backend, BackendId } from '../core/model/backend.ts';
import type { ScorerName } from '../core/model/balance-settings.ts';
import type { CollectSettings } from '../core/model/collect-settings.ts';
import type { CollectOutcome, CollectRun } from '../core/model/collection.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { printable } from '../runtime/text.ts';
import { AccessKeeper } from './access.ts';
import { CollectLog } from './collect-log.ts';
import { Gathering, patienceMs } from './gathering.ts';
import { leanBase } from './lean-path.ts';
import { Pacer } from './pacer.ts';
import { PageClient } from './page-client.ts';
import type { PageSource } from './page-source.ts';
import { phaseOf } from './phase.ts';
import { Poll } from './poll.ts';
import { SampleReader } from './sample.ts';
import { SamplePlan } from './sample-plan.ts';

const SCORERS: readonly ScorerName[] = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'];
/** A run ends at half the interval, and at this, even when not all have answered. */
const GATHER_MS_MAX = 1000;
/** The first run waits longer: the group's first answer to its sidecars waits for it. */
const FIRST_GATHER_MS_MAX = 2000;
/**
 * An answer is waited for at least these parts of the gather limit and of the interval, and so long, however fast the
 * others are: one that comes too late counts an interval later, which is the worse the longer that is.
 */
const LEAST_PATIENCE = { ofLimit: 0.1, ofInterval: 0.05, ms: 25 } as const;
/** A larger group is not asked in one instant, but over the first half of the gather limit. */
const AT_ONCE_MAX = 256;
/** So many connections are closed in one go, when many backends leave. */
const CLOSINGS_MAX = 32;

export interface CollectorOptions {
  readonly settings: CollectSettings;
  /** Scorers that carry weight: a page without a usable value for one of them gives no sample. Default: all. */
  readonly requiredScorers?: readonly ScorerName[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Where failures are told; default: one of its own. */
  readonly collectLog?: CollectLog;
  /** Where a backend's pages come from. Default: HTTP, as the settings say. */
  readonly openSource?: (backend: Backend) => PageSource;
}

/** A backend's collections, and where its page is. */
interface Asked {
  readonly poll: Poll;
  readonly metrics: Backend['metrics'];
}

/** One backend's part in a run. */
interface Turn {
  readonly backend: Backend;
  /** Is told how long the answer took; undefined: it is not waited for. */
  readonly settled: ((durationMs: number | undefined) => void) | undefined;
}

/**
 * Collects from all backends once per interval: fixed phase, no overlap, one request in flight per backend.
 *
 * A run ends when all that it expects have answered, see {@link Gathering}. A backend whose last answer took longer
 * than is waited for is asked, but not expected, until it is fast again: a slow one, or one that hangs, does not hold
 * up the others. Its answer counts in the run that is under way when it comes, or in the next; one that is still busy
 * then is not asked again. The first run expects all, up to its limit.
 */
export class Collector {
  readonly #options: CollectorOptions;
  readonly #collectLog: CollectLog;
  readonly #plan: SamplePlan;
  readonly #access: AccessKeeper;
  readonly #intervalMs: number;
  readonly #timeoutMs: number;
  readonly #firstGatherMs: number;
  readonly #gatherMs: number;
  readonly #leastMs: number;
  /** How long the latest run that could tell waits for an answer. */
  #patienceMs: number;
  /** Those of this run. */
  #wanted: ReadonlyMap<BackendId, Backend> = new Map();
  /** Of those that have been asked. */
  readonly #polls = new Map<BackendId, Asked>();
  readonly #pacer: Pacer<Turn>;
  #stopped = false;
  /** Ends the wait for the next run. */
  #wake = new AbortController();
  #backends: readonly Backend[] = [];
  /** What has come since the previous run's end. */
  #arrived = new Map<BackendId, CollectOutcome>();
  #closing: Promise<unknown> = Promise.resolve();
  #loop: Promise<void> | undefined;

  constructor(options: CollectorOptions) {
    this.#options = options;
    this.#collectLog = options.collectLog ?? new CollectLog(options);
    this.#plan = new SamplePlan(options.settings, options.requiredScorers ?? SCORERS);
    this.#access = new AccessKeeper(options);
    this.#pacer = new Pacer(options.clock, ({ backend, settled }) => {
      void this.#collect(backend).then(settled);
    });
    this.#intervalMs = options.settings.intervalSeconds * 1000;
    this.#timeoutMs = options.settings.timeoutSeconds * 1000;
    this.#gatherMs = Math.min(this.#intervalMs / 2, GATHER_MS_MAX);
    this.#firstGatherMs = Math.min(this.#timeoutMs, FIRST_GATHER_MS_MAX);
    this.#leastMs = leastPatienceMs(this.#intervalMs, this.#gatherMs);
    this.#patienceMs = this.#gatherMs;
  }

  /** Takes effect at the next run: then the connections of those that left are closed. */
  setBackends(backends: readonly Backend[]): void {
    this.#backends = backends;
  }

  /** Begins the next run at once, or when the one in flight has ended; the phase of those after it stands. */
  hasten(): void {
    this.#wake.abort();
  }

  /**
   * Begins the first run at once.
   * @param onRun called at the end of each run; what it throws is logged and ends nothing
   * @throws PlimsollError `internal` when started before
   */
  start(onRun: (run: CollectRun) => void): void {
    if (this.#loop !== undefined) throw new PlimsollError('internal', 'a collector can be started only once');
    this.#loop = this.#run(onRun);
  }

  /** Resolves when the run in flight has ended as usual, what it left under way is given up and all is closed. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#wake.abort();
    await this.#loop;
    this.#pacer.stop();
    await Promise.all([this.#closing, this.#closeAll([...this.#polls.values()].map(({ poll }) => poll))]);
    this.#polls.clear();
    await this.#access.close();
    this.#collectLog.flush();
  }

  async #run(onRun: (run: CollectRun) => void): Promise<void> {
    const { clock } = this.#options;
    const first = clock.now();
    let inPhase = true;
    for (let index = 0; !this.#stopped; ) {
      const startedAtMs = clock.now();
      this.#wake = new AbortController();
      this.#admit();
      await this.#gather(index);
      this.#deliver(onRun, startedAtMs);
      const due = Math.ceil((clock.now() - first) / this.#intervalMs);
      index = Math.max(inPhase ? index + 1 : index, due);
      inPhase = await sleep(clock, first + index * this.#intervalMs - clock.now(), this.#wake.signal);
    }
  }

  /** Takes the backends that are wanted. */
  #admit(): void {
    this.#wanted = new Map(this.#backends.map((backend) => [backend.id, backend]));
    const leaving: Poll[] = [];
    for (const [id, { poll, metrics }] of this.#polls) {
      const backend = this.#wanted.get(id);
      if (backend !== undefined && areSame(backend.metrics, metrics)) continue;
      this.#polls.delete(id);
      this.#arrived.delete(id);
      leaving.push(poll);
    }
    if (leaving.length > 0) this.#closing = Promise.all([this.#closing, this.#closeAll(leaving)]);
  }

  #open(backend: Backend): Poll {
    const { settings, clock, openSource } = this.#options;
    return new Poll({
      id: backend.id,
      source: openSource?.(backend) ?? this.#pageClient(backend),
      reader: new SampleReader(this.#plan),
      leanPath: leanBase(settings, backend.metrics?.path),
      timeoutMs: this.#timeoutMs,
      clock,
      log: this.#collectLog,
    });
  }

  #pageClient(backend: Backend): PageSource {
    return new PageClient(backend, this.#options.settings, { access: this.#access, fleeting: true });
  }

  async #closeAll(polls: readonly Poll[]): Promise<void> {
    const closing: Promise<void>[] = [];
    for (const poll of polls) {
      closing.push(this.#close(poll));
      if (closing.length % CLOSINGS_MAX === 0) await sleep(this.#options.clock, 0);
    }
    await Promise.all(closing);
  }

  async #close(poll: Poll): Promise<void> {
    try {
      await poll.close();
    } catch (error) {
      this.#options.log.error({ reason: printable(messageOf(error)) }, 'a connection could not be closed');
    }
  }

  /** Asks those that are not busy, and resolves when the run is over. */
  async #gather(run: number): Promise<void> {
    const { clock } = this.#options;
    const isFirst = run === 0;
    const idle = [...this.#wanted.values()].filter(({ id }) => this.#polls.get(id)?.poll.busy !== true);
    const fast = idle.filter(({ id }) => (this.#polls.get(id)?.poll.lastMs ?? 0) <= this.#patienceMs);
    const usualLimitMs = isFirst ? this.#firstGatherMs : this.#gatherMs;
    const spreadMs = idle.length > AT_ONCE_MAX ? usualLimitMs / 2 : 0;
    // where none is fast there is nobody to hold up: a moment for those that have become fast again
    const expected = new Set(fast.length > 0 ? fast : idle);
    const limitMs = fast.length > 0 ? usualLimitMs : spreadMs + this.#leastMs;
    const leastMs = isFirst ? undefined : this.#leastMs;
    const gathering = new Gathering({ clock, expected: expected.size, limitMs, leastMs });
    const nowMs = clock.now();
    const settled = (durationMs: number | undefined): void => {
      gathering.settled(durationMs);
    };
    this.#pacer.start(
      idle.map((backend) => ({
        atMs: nowMs + (spreadMs === 0 ? 0 : spreadMs * phaseOf(backend.id, run)),
        item: { backend, settled: expected.has(backend) ? settled : undefined },
      })),
      () => {
        gathering.allAsked();
      },
    );
    await gathering.end();
    const { usualMs } = gathering;
    if (usualMs !== undefined)
      this.#patienceMs = Math.min(this.#gatherMs, patienceMs(usualMs, this.#leastMs));
  }

  /** @returns how long the answer took; undefined: there is none. */
  async #collect(backend: Backend): Promise<number | undefined> {
    const { id } = backend;
    let asked = this.#polls.get(id);
    if (asked === undefined) {
      asked = { poll: this.#open(backend), metrics: backend.metrics };
      this.#polls.set(id, asked);
    }
    const outcome = await asked.poll.collect();
    if (outcome === undefined || this.#polls.get(id) !== asked) return undefined;
    const isAnswer = outcome.kind !== 'failure';
    // A late answer is news that a failure after it, in the same run, must not hide.
    if (isAnswer || (this.#arrived.get(id)?.kind ?? 'failure') === 'failure') this.#arrived.set(id, outcome);
    return isAnswer ? outcome.durationMs : undefined;
  }

  #deliver(onRun: (run: CollectRun) => void, startedAtMs: number): void {
    const outcomes = this.#arrived;
    this.#arrived = new Map();
    try {
      onRun({ startedAtMs, endedAtMs: this.#options.clock.now(), outcomes });
    } catch (error) {
      this.#options.log.error({ reason: printable(messageOf(error)) }, 'a collection could not be evaluated');
    }
  }
}

function areSame(one: Backend['metrics'], other: Backend['metrics']): boolean {
  return one?.port === other?.port && one?.path === other?.path;
}

/** Not more than the gather limit itself. */
function leastPatienceMs(intervalMs: number, gatherMs: number): number {
  const { ofLimit, ofInterval, ms } = LEAST_PATIENCE;
  return Math.min(gatherMs, Math.max(ofLimit * gatherMs, ofInterval * intervalMs, ms));
}
