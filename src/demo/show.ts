import { sleep, systemClock } from '../runtime/clock.ts';
import { type Act, type ActNumber, MOST_OVERTIME_SECONDS, planActs } from './acts.ts';
import { planArrivals } from './arrivals.ts';
import { untilNothingIsRefused } from './calm.ts';
import { saturatedRate } from './capacity.ts';
import { collectView, refusedShare } from './collect-view.ts';
import { DEFAULT_ENGINE } from './engine.ts';
import { LiveAct, type Played } from './live-act.ts';
import { type LoadResult, runLoad } from './load.ts';
import type { Painter } from './painter.ts';
import { seconds as inSeconds } from './screen.ts';
import type { Stage } from './stage.ts';
import { type ActSummary, summarize } from './summary.ts';

export interface ShowOptions {
  /** Length of the five acts, about. */
  readonly seconds: number;
  readonly seed: number;
  readonly painter: Painter;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** When in act 5 the control plane is killed, as a part of the act. */
const KILL_AT = 0.25;
const ENCORE_SECONDS = 600;
const ENCORE_LOAD = 0.6;
const SCREEN_MS = 1000;

/** Plays the acts on a stage, painting what happens every second. */
export class Show {
  readonly #stage: Stage;
  readonly #options: ShowOptions;
  readonly #capacityPerSecond: number;
  readonly #summaries: ActSummary[] = [];
  #live: LiveAct | undefined;

  constructor(stage: Stage, options: ShowOptions) {
    this.#stage = stage;
    this.#options = options;
    const fullSpeeds = stage.backends.reduce((sum, { slowness }) => sum + 1 / slowness, 0);
    this.#capacityPerSecond = fullSpeeds * saturatedRate(DEFAULT_ENGINE);
  }

  /**
   * Plays the five acts. The summaries of those that were played, all unless the signal aborted.
   * @throws the signal's reason when it aborts between two acts.
   */
  async play(): Promise<readonly ActSummary[]> {
    const { seconds, seed } = this.#options;
    const acts = planActs({ seconds, seed, capacityPerSecond: this.#capacityPerSecond });
    const numbered = (...numbers: ActNumber[]): readonly Act[] =>
      acts.filter(({ number }) => numbers.includes(number));
    await this.#whilePainting(async () => {
      for (const act of numbered(1)) await this.#act(act);
      if (this.#options.signal.aborted) return;
      await this.#stage.becomeLoadAware(this.#options.signal);
      for (const act of numbered(2)) await this.#act(act);
      await this.#inOneGo(numbered(3, 4, 5));
    });
    return [...this.#summaries].sort((a, b) => a.act.number - b.act.number);
  }

  /**
   * Moderate load until the signal aborts, with a new control plane in the place of the killed one.
   * @throws the signal's reason when it aborts before that runs.
   */
  async encore(): Promise<void> {
    await this.#stage.restartPlane(this.#options.signal);
    const { seed } = this.#options;
    const ratePerSecond = ENCORE_LOAD * this.#capacityPerSecond;
    const story = 'A new control plane has taken the place of the killed one. Ctrl-C ends the demo.';
    const staying = { title: 'staying up', story, seconds: ENCORE_SECONDS, endless: true };
    await this.#whilePainting(async () => {
      for (let round = 0; !this.#options.signal.aborted; round++) {
        const arrivals = planArrivals({ seed: seed + round, ratePerSecond, seconds: ENCORE_SECONDS });
        await this.#load(this.#begin({ ...staying, arrivals }));
      }
    });
  }

  /** Acts that follow each other without waiting for the answers of the one before. */
  async #inOneGo(acts: readonly Act[]): Promise<void> {
    const { signal } = this.#options;
    const answered: Promise<void>[] = [];
    for (const act of acts) {
      if (signal.aborted) break;
      const live = this.#beginAct(act);
      const enough = new AbortController();
      answered.push(this.#play(act, live, act.overtime.length > 0 ? enough.signal : undefined));
      const killAfter = act.number === 5 ? KILL_AT * act.seconds : act.seconds;
      await sleep(systemClock, killAfter * 1000, signal);
      if (act.overtime.length > 0) await this.#overtime(live);
      enough.abort();
      if (act.number === 5) await this.#kill(live, killAfter);
    }
    await Promise.all(answered);
  }

  /** Resolves when every request of the act is answered. */
  #act(act: Act): Promise<void> {
    return this.#play(act, this.#beginAct(act));
  }

  /** @param enough ends the overtime */
  async #play(act: Act, live: LiveAct, enough?: AbortSignal): Promise<void> {
    const results = await this.#load(live, enough);
    const lastMs = Math.max(...results.map(({ arrival }) => arrival.atMs));
    const seconds = Math.max(act.seconds, lastMs / 1000);
    this.#summaries.push(summarize({ ...act, seconds }, results, live.shed, live.kill));
  }

  async #overtime(live: LiveAct): Promise<void> {
    live.isInOvertime = true;
    await this.#untilNothingIsRefused(MOST_OVERTIME_SECONDS);
    live.isInOvertime = false;
  }

  /**
   * A share that is refused when the control plane dies stays refused: that would tell nothing of its death.
   * @param mostSeconds that it may wait, so that enough of the act is left
   */
  async #kill(live: LiveAct, mostSeconds: number): Promise<void> {
    const shed = await this.#untilNothingIsRefused(mostSeconds);
    if (this.#options.signal.aborted) return;
    live.kill = { atMs: live.age(systemClock.now()), shed };
    await this.#stage.plane.kill();
  }

  #untilNothingIsRefused(mostSeconds: number): Promise<number> {
    const { signal } = this.#options;
    const share = (): Promise<number | undefined> => refusedShare(this.#stage);
    return untilNothingIsRefused({ clock: systemClock, share, mostSeconds, signal });
  }

  #beginAct(act: Act): LiveAct {
    const arrivals = [...act.arrivals, ...act.overtime];
    return this.#begin({ ...act, title: `act ${act.number}: ${act.title}`, arrivals });
  }

  #begin(played: Played): LiveAct {
    const live = new LiveAct(played, systemClock.now());
    this.#live = live;
    return live;
  }

  #load(live: LiveAct, enough?: AbortSignal): Promise<readonly LoadResult[]> {
    const { onFirstToken, onResult } = live;
    const { arrivals } = live.act;
    const { signal } = this.#options;
    const ends = enough === undefined ? { signal } : { signal, enough };
    return runLoad({ origin: this.#stage.origin, arrivals, onFirstToken, onResult, ...ends });
  }

  async #whilePainting(work: () => Promise<void>): Promise<void> {
    const done = new AbortController();
    const painting = this.#paintUntil(done.signal);
    try {
      await work();
    } finally {
      done.abort();
      await painting;
    }
  }

  async #paintUntil(done: AbortSignal): Promise<void> {
    while (await sleep(systemClock, SCREEN_MS, done)) {
      if (this.#live === undefined) continue;
      const live = this.#live;
      const view = await collectView(this.#stage, live, this.#past());
      if (view.shed !== undefined && view.secondsLeft !== 0) live.noteShed(view.shed);
      this.#options.painter.paint(view);
    }
  }

  #past(): readonly string[] {
    return this.#summaries.map(
      ({ act, firstTokenP50Ms, firstTokenP95Ms, noUpstream, requests }) =>
        `act ${act.number} ${act.title}: ${requests} requests, first token p50 ${inSeconds(firstTokenP50Ms)}, ` +
        `p95 ${inSeconds(firstTokenP95Ms)}, 503s ${noUpstream}`,
    );
  }
}
