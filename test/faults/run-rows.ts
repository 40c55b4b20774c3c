import { messageOf } from '../../src/runtime/errors.ts';
import type { Played } from './measured.ts';
import type { Row } from './model.ts';
import { play, settle } from './play.ts';
import { FaultStage } from './stage.ts';

export interface RunOptions {
  readonly rows: readonly Row[];
  /** Plimsoll's main.js. */
  readonly program: string;
  readonly onPlayed?: (played: Played) => void;
  /** Called when a row is played again. */
  readonly onAgain?: (played: Played) => void;
  /** Ends after the row in play. */
  readonly signal: AbortSignal;
}

/** A row that breaks a rule while this process waited so long for a processor says nothing, and is played again. */
const STALL_SECONDS = 0.5;
const MOST_ATTEMPTS = 3;

/** Plays the rows on one stage after the other: a new one follows a row that broke a rule. */
export async function runRows(options: RunOptions): Promise<readonly Played[]> {
  const { rows, onPlayed, onAgain, signal } = options;
  const stages = new Stages(options);
  const results: Played[] = [];
  try {
    for (const row of rows) {
      let played: Played | undefined;
      for (let attempt = 1; attempt <= MOST_ATTEMPTS && !signal.aborted; attempt++) {
        if (played !== undefined) onAgain?.(played);
        played = await stages.play(row);
        if (played.broken.length === 0 || (played.measured?.stallSeconds ?? 0) < STALL_SECONDS) break;
      }
      if (played === undefined) break;
      results.push(played);
      onPlayed?.(played);
    }
  } finally {
    await stages.close();
  }
  return results;
}

class Stages {
  readonly #options: RunOptions;
  /** At ease; undefined: there is none. */
  #stage: FaultStage | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** While the last answers are waited for, the stage comes to ease for what is next. Throws nothing. */
  async play(row: Row): Promise<Played> {
    try {
      const stage = await this.#ready();
      const finish = await play(row, stage);
      const stop = new AbortController();
      const settled = settle(stage, stop.signal).then(
        () => true,
        () => false,
      );
      const played = await finish();
      const holds = played.broken.length === 0;
      if (!holds) stop.abort();
      if (!(await settled) || !holds) await this.close();
      return played;
    } catch (error) {
      await this.close();
      return { row, measured: undefined, broken: [`no stage at ease: ${messageOf(error)}`] };
    }
  }

  async close(): Promise<void> {
    await this.#stage?.close();
    this.#stage = undefined;
  }

  async #ready(): Promise<FaultStage> {
    if (this.#stage !== undefined) return this.#stage;
    const { program, signal } = this.#options;
    this.#stage = await FaultStage.open(program, signal);
    await settle(this.#stage);
    return this.#stage;
  }
}
