import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../src/demo/random.ts';
import { messageOf } from '../../src/runtime/errors.ts';
import type { HeldLook, Row } from '../faults/model.ts';
import type { Churn } from './churn.ts';
import type { Ledger } from './ledger.ts';
import type { SoakStage } from './soak-stage.ts';
import type { TimedFailure } from './steady-requests.ts';

const LOOK_MS = 1_000;
/** Between two faults. */
const PAUSE_SECONDS = [4, 10] as const;
/** The longest that a fault goes on. */
const HOLD_SECONDS = 60;
/** How long after a fault weights may take to follow the load again before the next one comes. */
const BACK_MS = 90_000;
/** Failures later than this after the end of a fault are not its own. */
const AFTER_MS = 15_000;

/** Of the log of a control plane that has ended. */
const LOG_LINES = 20;

/** What a fault did, over all its times. */
export interface FaultRecord {
  readonly times: number;
  readonly requests: number;
  readonly pushes: number;
  /** The longest time, in seconds, from its end until weights followed the load; Infinity: once it took too long. */
  readonly backSeconds: number;
  /** What went wrong with the fault itself. */
  readonly errors: readonly string[];
}

export interface ConductorOptions {
  readonly stage: SoakStage;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly churn: Churn;
  /** Told of each fault as it begins and ends, in words. */
  readonly say: (line: string) => void;
}

/** Plays faults one after the other, each drawn as often as any other, in an order that the seed gives. */
export class Conductor {
  readonly records = new Map<string, FaultRecord>();
  readonly #options: ConductorOptions;
  #going = '';
  #played = 0;

  constructor(options: ConductorOptions) {
    this.#options = options;
  }

  /** The fault that goes on; empty: none. */
  get going(): string {
    return this.#going;
  }

  get played(): number {
    return this.#played;
  }

  /** Goes on until the time is up; a fault that would take longer is not begun. */
  async run(rows: readonly Row[], endMs: number, signal: AbortSignal): Promise<void> {
    let bag: readonly Row[] = [];
    while (!signal.aborted) {
      const [shortest, longest] = PAUSE_SECONDS;
      await this.#wait(1000 * (shortest + (longest - shortest) * this.#options.random.uniform()), signal);
      const leftSeconds = (endMs - performance.now()) / 1000;
      const fits = (row: Row): boolean => secondsOf(row) < leftSeconds;
      if (!bag.some(fits)) bag = this.#shuffled(rows.filter(fits));
      const row = bag.find(fits);
      if (row === undefined) break;
      bag = bag.filter((other) => other !== row);
      await this.#play(row, signal);
    }
    const restMs = endMs - performance.now();
    if (restMs > 0) await this.#wait(restMs, signal);
  }

  async #play(row: Row, signal: AbortSignal): Promise<void> {
    const { stage, ledger, churn, say } = this.#options;
    const name = `${row.part}: ${row.name}`;
    say(`${name}: ${row.happens}; its own failures: ${row.faultsOwn}`);
    this.#going = name;
    this.#played++;
    churn.faulty = true;
    const startedMs = performance.now();
    const fault = row.fault(stage);
    const times = { noticedAt: Infinity, targets: fault.targets };
    const end = ledger.begin(
      {
        fault: name,
        own: row.faultsOwn,
        isOwn: (failure, undoneMs) =>
          row.isFaultsOwn?.(relative(failure, startedMs), {
            ...times,
            undoneAt: (undoneMs - startedMs) / 1000,
          }) === true,
        afterMs: AFTER_MS,
      },
      startedMs,
    );
    const { ended: before } = stage.load;
    const pushesBefore = await this.#pushes();
    const errors: string[] = [];
    try {
      await fault.apply();
      const heldMs = performance.now() + 1000 * Math.min(HOLD_SECONDS, row.holdSeconds);
      while (performance.now() < heldMs && !signal.aborted) {
        await this.#wait(Math.min(LOOK_MS, heldMs - performance.now()), signal);
        if (times.noticedAt === Infinity && (await this.#notices(row, fault.targets, startedMs)))
          times.noticedAt = (performance.now() - startedMs) / 1000;
      }
    } catch (error) {
      errors.push(messageOf(error));
    }
    try {
      await fault.undo();
    } catch (error) {
      errors.push(messageOf(error));
    }
    const undoneMs = performance.now();
    end(undoneMs);
    if (!stage.plane.running) errors.push(await this.#bringBack());
    const backMs = await this.#untilBack(signal);
    this.#going = '';
    churn.faulty = false;
    const pushesAfter = await this.#pushes();
    this.#record(name, {
      requests: stage.load.ended - before,
      // one that does not answer, or is another process, tells of none
      pushes: Math.max(0, (pushesAfter ?? 0) - (pushesBefore ?? Infinity)),
      backSeconds: (backMs - undoneMs) / 1000,
      errors,
    });
  }

  /** The control plane has ended by itself. @returns what it said last */
  async #bringBack(): Promise<string> {
    const { plane } = this.#options.stage;
    const said = plane.log.slice(-LOG_LINES).join('\n');
    await plane.restart();
    return `the control plane ended, its log ends\n${said}`;
  }

  #record(name: string, more: Omit<FaultRecord, 'times'>): void {
    const known = this.records.get(name);
    const account = this.#options.ledger.accounts.get(name);
    this.records.set(name, {
      times: (known?.times ?? 0) + 1,
      requests: (known?.requests ?? 0) + more.requests,
      pushes: (known?.pushes ?? 0) + more.pushes,
      backSeconds: Math.max(known?.backSeconds ?? 0, more.backSeconds),
      errors: [...(known?.errors ?? []), ...more.errors].slice(0, 5),
    });
    const failed = `${account?.own ?? 0} failed of its own, ${account?.ours ?? 0} of ours`;
    this.#options.say(`${name}: ${failed}, back after ${more.backSeconds.toFixed(1)} s`);
    for (const error of more.errors) this.#options.say(`${name}: ${error}`);
  }

  async #notices(row: Row, targets: readonly string[], startedMs: number): Promise<boolean> {
    if (row.notice === undefined) return false;
    const { plane } = this.#options.stage;
    const page = await plane.page();
    const at = (performance.now() - startedMs) / 1000;
    const nothing: readonly HeldLook[] = [];
    return page !== undefined && row.notice.when(page.look(at, targets, [nothing, nothing]));
  }

  /** Until weights follow the load, nothing is refused and every sidecar has its stream. @returns when; Infinity: not in time. */
  async #untilBack(signal: AbortSignal): Promise<number> {
    const { stage } = this.#options;
    const deadline = performance.now() + BACK_MS;
    while (performance.now() < deadline) {
      const page = await stage.plane.page();
      const shed = page?.value('plimsoll_server_group_shed_ratio') ?? 1;
      const { served } = await stage.sidecars.look();
      if (page?.mode === 'balanced' && !(shed > 0) && served === stage.sidecars.count)
        return performance.now();
      if (signal.aborted) return performance.now();
      await this.#wait(LOOK_MS / 4, signal);
    }
    return Infinity;
  }

  async #pushes(): Promise<number | undefined> {
    const pushes = (await this.#options.stage.plane.page())?.value('plimsoll_server_group_pushes_total');
    return pushes === undefined || Number.isNaN(pushes) ? undefined : pushes;
  }

  async #wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    await delay(Math.max(0, milliseconds), undefined, { signal }).catch(() => undefined);
  }

  #shuffled(rows: readonly Row[]): readonly Row[] {
    const drawn = rows.map((row) => ({ row, at: this.#options.random.uniform() }));
    return drawn.sort((one, other) => one.at - other.at).map(({ row }) => row);
  }
}

/** What a fault takes, its recovery included. */
function secondsOf({ holdSeconds, recover }: Row): number {
  return Math.min(HOLD_SECONDS, holdSeconds) + Math.min(HOLD_SECONDS, recover.withinSeconds) + 10;
}

function relative(failure: TimedFailure, startedMs: number) {
  return {
    ...failure,
    sentAt: (failure.sentMs - startedMs) / 1000,
    endedAt: (failure.endedMs - startedMs) / 1000,
  };
}
