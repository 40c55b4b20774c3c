import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../src/runtime/clock.ts';
import { messageOf } from '../../src/runtime/errors.ts';
import { watchEventLoop } from '../../src/runtime/event-loop-watch.ts';
import { waitFor } from '../support/wait-for.ts';
import { capacitiesIn, mostShareIn, pushesIn, traceOf } from './figures.ts';
import { judge } from './judge.ts';
import type { Exchange } from './load.ts';
import { isBalanced } from './looks.ts';
import type { Measured, Played } from './measured.ts';
import type { Failure, Fault, Look, Row, Times } from './model.ts';
import { metric, resourcesOf, type Sent } from './observer.ts';
import type { FaultStage } from './stage.ts';

const LOOK_MS = 250;
/** Looks in a row that must find all at ease before a row begins. */
const EASY_LOOKS = 3;
const SETTLE_MS = 40_000;
/** Learned capacities at ease: what one fault taught is not the beginning of the next. */
const CAPACITIES = [0.85, 1.18] as const;
/** Looks within which it must not look noticed before it came, once. */
const CHANCE_LOOKS = 40;
/** How much longer than its limit something is waited for, so that the table says how long it took. */
const GRACE_SECONDS = 20;
/** After recovery the load is still looked at for so long. */
const AFTERMATH_SECONDS = 2;
const LOG_LINES = 40;

/**
 * Waits until the stage is at ease, and has forgotten what the last fault taught, or `signal` gives up.
 * @throws when it is not within 40 s
 */
export async function settle(stage: FaultStage, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  let before: Look | undefined;
  let easy = 0;
  while (easy < EASY_LOOKS && signal?.aborted !== true) {
    if (performance.now() > deadline) throw new Error(`not at ease within ${SETTLE_MS} ms`);
    const [look] = await Promise.all([stage.observer.look(0, []), delay(LOOK_MS)]);
    easy = isBalanced(look, before) && isEven(look) ? easy + 1 : 0;
    before = look;
  }
}

function isEven({ plane }: Look): boolean {
  const [least, most] = CAPACITIES;
  if (plane === undefined || metric(plane.page, 'plimsoll_backend_doubted') > 0) return false;
  return plane.backends.every(({ capacity }) => !(capacity < least || capacity > most));
}

/**
 * Does the fault of a row to a stage at ease and undoes it. Throws nothing.
 * @returns waits for the last answers and judges; meanwhile the stage may come to ease
 */
export async function play(row: Row, stage: FaultStage): Promise<() => Promise<Played>> {
  const fail = (error: unknown): Played => ({
    row,
    measured: undefined,
    broken: [`it could not be played: ${messageOf(error)}`],
  });
  const playing = new Playing(row, stage);
  const endWatch = watchEventLoop(systemClock, (lateMs) => {
    playing.stallMs = Math.max(playing.stallMs, lateMs);
  });
  try {
    const measure = await playing.play();
    return async () => {
      try {
        const measured = await measure();
        return { row, measured, broken: judge(row, measured) };
      } catch (error) {
        return fail(error);
      }
    };
  } catch (error) {
    return () => Promise.resolve(fail(error));
  } finally {
    endWatch();
  }
}

class Playing {
  stallMs = 0;
  readonly #row: Row;
  readonly #stage: FaultStage;
  /** When the fault came. */
  #startedMs = performance.now();
  readonly #looks: Look[] = [];
  #targets: readonly string[] = [];
  #fault: Fault | undefined;

  constructor(row: Row, stage: FaultStage) {
    this.#row = row;
    this.#stage = stage;
  }

  /** @returns waits for the last answers */
  async play(): Promise<() => Promise<Measured>> {
    const row = this.#row;
    const stage = this.#stage;
    const fault = row.fault(stage);
    try {
      if (fault.arrange !== undefined) {
        await fault.arrange();
        await settle(stage);
      }
      return await this.#playFault(fault);
    } finally {
      await fault.restore?.();
    }
  }

  async #playFault(fault: Fault): Promise<() => Promise<Measured>> {
    const row = this.#row;
    const stage = this.#stage;
    const before = resourcesOf(stage.plane.pid);
    if (before === undefined) throw new Error('the control plane is gone before the fault');
    this.#targets = fault.targets;
    this.#fault = fault;
    await this.#untilUnnoticed();
    this.#startedMs = performance.now();
    let noticedAt: number | undefined;
    let sentAtNotice = stage.observer.sent;
    let sentAtUndo: Sent = new Map();
    try {
      await this.#lookUntil(fault.apply());
      const held = this.#now() + row.holdSeconds;
      const { notice } = row;
      const patience = notice === undefined ? 0 : notice.withinSeconds + GRACE_SECONDS;
      while (
        this.#now() < held ||
        (notice !== undefined && noticedAt === undefined && this.#now() < patience)
      ) {
        const look = await this.#look();
        if (notice === undefined || noticedAt !== undefined || !notice.when(look)) continue;
        noticedAt = look.at;
        sentAtNotice = stage.observer.sent;
      }
    } finally {
      sentAtUndo = stage.observer.sent;
      await this.#lookUntil(fault.undo());
    }
    const undoneAt = this.#now();
    const recoveredAt = await this.#untilRecovered(undoneAt);
    const easyMs = performance.now();
    const endAt = this.#now() + AFTERMATH_SECONDS;
    while (this.#now() < endAt) await this.#look();
    const after = resourcesOf(stage.plane.pid);
    const times = { noticedAt: noticedAt ?? Number.POSITIVE_INFINITY, undoneAt, targets: this.#targets };
    const endMs = performance.now();
    const figures = {
      seconds: this.#now(),
      noticedSeconds: noticedAt,
      recoveredSeconds: recoveredAt === undefined ? undefined : recoveredAt - undoneAt,
      ...this.#toTargets(
        row.notice !== undefined && noticedAt === undefined ? [] : [sentAtNotice, sentAtUndo],
      ),
      ...pushesIn(this.#looks),
      before,
      after,
      capacities: capacitiesIn(this.#looks),
      brokenAt: this.#brokenAt(times),
      stallSeconds: this.stallMs / 1000,
      trace: this.#looks.map(traceOf),
      log: stage.plane.log.slice(-LOG_LINES),
      alive: stage.plane.running,
    };
    return async () => {
      // those sent later and not answered yet belong to the next row, which has them in flight
      await waitFor('the last answers', () => stage.load.isOver(easyMs), 30_000);
      const exchanges = stage.load.inFlightBetween(this.#startedMs, endMs);
      return {
        ...figures,
        requests: exchanges.length,
        ...this.#sorted(exchanges, times),
        rush: this.#stage.backends.length * mostShareIn(exchanges, this.#startedMs + 1000 * undoneAt),
      };
    };
  }

  #now(): number {
    return (performance.now() - this.#startedMs) / 1000;
  }

  async #look(): Promise<Look> {
    const [seen] = await Promise.all([this.#stage.observer.look(this.#now(), this.#targets), delay(LOOK_MS)]);
    const look = { ...seen, told: this.#fault?.told?.() === true };
    this.#looks.push(look);
    return look;
  }

  /** By chance it may look noticed before it came; where it always does, the row can tell nothing. */
  async #untilUnnoticed(): Promise<void> {
    for (let looks = 1; this.#row.notice?.when(await this.#look()) === true; looks++)
      if (looks > CHANCE_LOOKS) throw new Error('it is noticed before it came');
  }

  async #lookUntil(done: Promise<void>): Promise<void> {
    let over = false;
    const ended = done.finally(() => {
      over = true;
    });
    while (!over) await Promise.race([ended, this.#look()]);
    await ended;
  }

  async #untilRecovered(undoneAt: number): Promise<number | undefined> {
    const { withinSeconds, when } = this.#row.recover;
    const patience = undoneAt + withinSeconds + GRACE_SECONDS;
    while (this.#now() < patience) {
      const before = this.#looks.at(-1);
      const look = await this.#look();
      if (when === undefined ? isBalanced(look, before) : when(look)) return look.at;
    }
    return undefined;
  }

  #sorted(exchanges: readonly Exchange[], times: Times): Pick<Measured, 'own' | 'ours'> {
    const own: Failure[] = [];
    const ours: Failure[] = [];
    for (const { outcome, detail, backend, sentMs, endedMs } of exchanges) {
      if (outcome === 'ok' || outcome === 'aborted') continue;
      const sentAt = (sentMs - this.#startedMs) / 1000;
      const endedAt = (endedMs - this.#startedMs) / 1000;
      const failure = { kind: outcome, detail, backend, sentAt, endedAt };
      (this.#row.isFaultsOwn?.(failure, times) === true ? own : ours).push(failure);
    }
    return { own, ours };
  }

  #toTargets([from, to]: readonly Sent[]): Pick<Measured, 'targetsShare' | 'targetsRequests'> {
    if (from === undefined || to === undefined) return { targetsShare: Number.NaN, targetsRequests: 0 };
    let all = 0;
    let targets = 0;
    for (const [id, count] of to) {
      const more = Math.max(0, count - (from.get(id) ?? 0));
      all += more;
      if (this.#targets.includes(id)) targets += more;
    }
    return { targetsShare: targets / all, targetsRequests: targets };
  }

  #brokenAt({ noticedAt, undoneAt }: Times): number | undefined {
    const { throughout } = this.#row;
    const from = this.#row.notice === undefined ? 0 : noticedAt;
    return this.#looks.find(
      (look) => look.at >= from && look.at < undoneAt && throughout?.holds(look) === false,
    )?.at;
  }
}
