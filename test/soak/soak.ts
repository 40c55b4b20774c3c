import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../src/demo/random.ts';
import type { Row } from '../faults/model.ts';
import { Churn, type ChurnCounts } from './churn.ts';
import { Conductor } from './conductor.ts';
import { followWeights } from './follow-weights.ts';
import { Ledger } from './ledger.ts';
import type { Progress } from './progress.ts';
import { type Sample, Sampler } from './sampler.ts';
import { type SoakSize, SoakStage } from './soak-stage.ts';
import type { Measured } from './verdict.ts';

export interface SoakOptions {
  readonly size: SoakSize;
  /** Of all, in seconds. */
  readonly seconds: number;
  readonly seed: number;
  /** Plimsoll's main.js. */
  readonly program: string;
  /** Faults after which the process of the control plane is another one. */
  readonly restarting: readonly Row[];
  readonly others: (stage: SoakStage) => readonly Row[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export interface SoakOutcome {
  readonly measured: Measured;
  readonly ledger: Ledger;
  readonly churn: ChurnCounts;
  readonly sampler: Sampler;
  readonly requests: number;
}

/** In the first part, in seconds, the control plane is restarted; then the same process is watched to the end. */
const RESTARTS = { least: 35, most: 900, part: 0.06 } as const;
/**
 * Then all that comes and goes does so many times as fast: V8 makes code of what is called often, and of what happens a
 * few times a minute it would do so for hours.
 */
const RUSH = { least: 5, most: 240, part: 0.05, pace: 20 } as const;
/** At rest nothing comes and goes, and no fault goes on. */
const REST_SECONDS = { least: 12, most: 45, part: 0.02 } as const;
/** Samples of a whole run. */
const SAMPLES = 240;
const SAMPLE_SECONDS = { least: 3, most: 60 } as const;
/** Between two glances at resident memory, which goes up and down within seconds. */
const GLANCE_MS = 1_000;
/** How long all may take at the end to be as it was. */
const SETTLE_MS = 60_000;

/** Plays a soak: restarts, a rush of churn, a rest, faults and churn, a rest. */
export async function soak(options: SoakOptions): Promise<SoakOutcome> {
  const { size, seconds, seed, progress, signal } = options;
  let mayAnswer = (_backend: string, _sentMs: number): boolean => true;
  const ledger = new Ledger();
  const stage = await SoakStage.open({
    size,
    program: options.program,
    signal,
    mayAnswer: (backend, sentMs) => mayAnswer(backend, sentMs),
    onFailure: (failure) => {
      ledger.book(failure);
    },
  });
  try {
    const startedMs = performance.now();
    const now = (): number => (performance.now() - startedMs) / 1000;
    const churn = new Churn(stage, createRandom(seed), ledger);
    mayAnswer = (backend, sentMs) => churn.mayAnswer(backend, sentMs);
    const say = (line: string): void => {
      progress.say(`${now().toFixed(0).padStart(5)} s  ${line}`);
    };
    const conductor = new Conductor({ stage, random: createRandom(seed + 1), ledger, churn, say });
    const sampler = new Sampler({
      plane: stage.plane,
      now,
      counts: () => ({
        requests: stage.load.ended,
        own: ledger.own,
        ours: ledger.ours,
        fault: conductor.going,
      }),
    });
    const watch = new Watch(sampler, seconds / SAMPLES, (sample) => {
      progress.show(sample, conductor.played);
    });
    const over = new AbortController();
    const following = followWeights(stage, over.signal);
    const restSeconds = between(REST_SECONDS.least, REST_SECONDS.part * seconds, REST_SECONDS.most);
    const at = (of: number): number => startedMs + 1000 * of;
    const settled = new AbortController();
    const whole = AbortSignal.any([signal, settled.signal]);

    const beginning = churn.run(whole);
    await conductor.run(
      options.restarting,
      at(between(RESTARTS.least, RESTARTS.part * seconds, RESTARTS.most)),
      signal,
    );
    settled.abort();
    await beginning;
    const rushSeconds = between(RUSH.least, RUSH.part * seconds, RUSH.most);
    say(`churn: ${RUSH.pace} times as fast for ${rushSeconds.toFixed(0)} s`);
    const rushed = new AbortController();
    const rushing = churn.run(AbortSignal.any([signal, rushed.signal]), RUSH.pace);
    await delay(1000 * rushSeconds, undefined, { signal }).catch(() => undefined);
    rushed.abort();
    await rushing;
    const filesBefore = await atRest(stage, restSeconds, signal);

    const end = new AbortController();
    const going = churn.run(AbortSignal.any([signal, end.signal]));
    await conductor.run(options.others(stage), at(seconds - restSeconds), signal);
    end.abort();
    await going;
    const filesAfter = await atRest(stage, restSeconds, signal);
    const unsettled = await whatIsUnsettled(stage, signal);
    await watch.end();
    over.abort();
    await following;
    const measured: Measured = {
      samples: sampler.samples,
      resident: sampler.resident,
      ours: ledger.ours,
      filesBefore,
      filesAfter,
      faults: conductor.records,
      unsettled,
    };
    return { measured, ledger, churn: churn.counts, sampler, requests: stage.load.ended };
  } finally {
    await stage.close();
  }
}

/** Samples as long as all goes on. */
class Watch {
  readonly #ended: Promise<void>;
  readonly #end = new AbortController();
  readonly #glances: NodeJS.Timeout;

  constructor(sampler: Sampler, seconds: number, onSample: (sample: Sample) => void) {
    this.#glances = setInterval(() => {
      sampler.glance();
    }, GLANCE_MS);
    this.#ended = this.#run(
      sampler,
      1000 * between(SAMPLE_SECONDS.least, seconds, SAMPLE_SECONDS.most),
      onSample,
    );
  }

  async end(): Promise<void> {
    clearInterval(this.#glances);
    this.#end.abort();
    await this.#ended;
  }

  async #run(sampler: Sampler, everyMs: number, onSample: (sample: Sample) => void): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      onSample(await sampler.look());
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** @returns the least number of open files meanwhile; null: it was not said. */
async function atRest(
  { plane }: SoakStage,
  restSeconds: number,
  signal: AbortSignal,
): Promise<number | null> {
  const endMs = performance.now() + 1000 * restSeconds;
  let least: number | null = null;
  while (performance.now() < endMs && !signal.aborted) {
    await delay(1000, undefined, { signal }).catch(() => undefined);
    const files = (await plane.page())?.value('plimsoll_process_open_fds');
    if (files !== undefined && !Number.isNaN(files)) least = Math.min(least ?? Infinity, files);
  }
  return least;
}

/** What is not as it was at the beginning, in words. */
async function whatIsUnsettled(stage: SoakStage, signal: AbortSignal): Promise<readonly string[]> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const left = await whatIsAmiss(stage);
    if (left.length === 0 || signal.aborted || performance.now() > deadline) return left;
    await delay(1000, undefined, { signal }).catch(() => undefined);
  }
}

async function whatIsAmiss({ plane, sidecars }: SoakStage): Promise<readonly string[]> {
  const page = await plane.page();
  if (page === undefined) return ['at the end the control plane does not answer'];
  const { served } = await sidecars.look();
  const amiss: string[] = [];
  if (page.mode !== 'balanced') amiss.push(`at the end weights do not follow the load: ${page.mode}`);
  if (page.value('plimsoll_server_group_shed_ratio') > 0) amiss.push('at the end requests are refused');
  if (served < sidecars.count)
    amiss.push(`at the end ${served} of ${sidecars.count} sidecars have endpoints`);
  for (const name of ['behind', 'refusing']) {
    const count = page.value(`plimsoll_sidecars_${name}`);
    if (count > 0) amiss.push(`at the end ${count} sidecars are ${name}`);
  }
  return amiss;
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
