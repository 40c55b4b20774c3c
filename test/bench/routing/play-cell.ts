import { sleep, systemClock } from '../../../src/runtime/clock.ts';
import { PlimsollError } from '../../../src/runtime/errors.ts';
import { builtPlimsoll } from './built-plimsoll.ts';
import { type CountedFigures, CountedTime } from './counted-time.ts';
import { Fleet } from './fleet.ts';
import type { GeneratorAnswer } from './generator.ts';
import type { CellResult, CellSpec } from './model.ts';
import { resultOf } from './result.ts';
import { Stage } from './stage.ts';
import { STAYS } from './stays.ts';
import { traceOf } from './trace.ts';

export interface PlayOptions {
  /** 1: the first. Default 1. */
  readonly attempt?: number;
  /** Ends everything at once; the promise is rejected with its reason. */
  readonly signal?: AbortSignal;
}

/** After the end of the counted time; the generator gives up long before. */
const LAST_ANSWERS_MS = 120_000;

/**
 * Plays a cell: starts its processes, offers the load, lets happen what is to happen, measures, and ends everything.
 * Several may run at once. Linux only; needs an Envoy.
 * @throws PlimsollError `io` when a part cannot be started or ends before its time.
 */
export async function playCell(spec: CellSpec, options: PlayOptions = {}): Promise<CellResult> {
  const { attempt = 1, signal = new AbortController().signal } = options;
  const { scenario } = spec;
  // this takes its time once, which must not fall into a cell that is being played: so for every arm
  const program = builtPlimsoll();
  const offered = traceOf(spec);
  const stage = await Stage.open(spec, program, signal);
  try {
    const { origins } = stage.sidecars;
    const { drainSeconds } = STAYS[scenario.stay];
    await stage.generator.prepare({ offered, origins, retries: scenario.retries ?? false, drainSeconds });
    const { fates, figures } = await play(spec, stage, signal);
    return resultOf({ spec, attempt, offered, fates, figures, backends: stage.backends.all });
  } finally {
    await stage.close();
  }
}

async function play(
  { scenario }: CellSpec,
  stage: Stage,
  signal: AbortSignal,
): Promise<{ readonly fates: GeneratorAnswer; readonly figures: CountedFigures }> {
  const failure = new AbortController();
  const fail = (error: unknown): void => {
    failure.abort(error);
  };
  const end = AbortSignal.any([signal, failure.signal]);
  const countedFromMs = systemClock.now() + scenario.warmUpSeconds * 1000;
  const until = async (seconds: number): Promise<void> => {
    await sleep(systemClock, countedFromMs + seconds * 1000 - systemClock.now(), end);
    end.throwIfAborted();
  };
  const seconds = scenario.stretches.reduce((sum, stretch) => sum + stretch.seconds, 0);
  const load = stage.generator.play();
  const fleet = new Fleet(scenario, stage);
  const happenings = fleet.play(until, seconds);
  load.catch(fail);
  happenings.catch(fail);
  try {
    await until(0);
    const counted = new CountedTime(stage, fleet);
    for (let second = 0; second < seconds; second++) {
      await until(second);
      await counted.look();
    }
    await until(seconds);
    const figures = await counted.end();
    await happenings;
    const fates = await Promise.race([load, sleep(systemClock, LAST_ANSWERS_MS, end)]);
    end.throwIfAborted();
    if (typeof fates === 'boolean')
      throw new PlimsollError('io', 'the load generator does not come to its end');
    return { fates, figures };
  } finally {
    failure.abort();
  }
}
