/**
 * The collection of the product for `npm run bench:scrape`, without what comes after it:
 * `node collector-program.js PORT full|lean`. Commands on the standard input, each answered by one line of JSON:
 *
 *     warm            collects as often as it can for some seconds, so that its code is as in a process that is long up
 *     backends N      these are polled from the next run on, which begins at once
 *     begin           what comes from here on counts
 *     watch           so does how late the event loop is, which costs processor time
 *     figures         what was measured since then
 */
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Collector } from '../../../src/collect/collector.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { CollectRun } from '../../../src/core/model/collection.ts';
import { sleep, systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import type { CollectorFigures } from './collector-figures.ts';
import { addressOf, hostPortOf } from './targets.ts';

/** The event loop is looked at this often; its delay is what a look comes later. */
const LOOK_MS = 10;
/** What warms: so many backends, as often as it takes to be always busy. */
const WARM_BACKENDS = 100;
const WARM_INTERVAL_SECONDS = 0.02;
const WARM_MS = 4000;

const port = Number(process.argv[2]);
const delays = monitorEventLoopDelay({ resolution: LOOK_MS });
const gathers = createHistogram();
let samples = 0;
let failures = 0;
const collector = collect(1);
collector.start(note);
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(line === 'warm' ? await warm() : obey(line)));
}
await collector.stop();

function collect(intervalSeconds: number): Collector {
  return new Collector({
    settings: collectSettings({ intervalSeconds, leanScrape: process.argv[3] === 'lean' }),
    clock: systemClock,
    log: silentLogger,
  });
}

async function warm(): Promise<string> {
  const warming = collect(WARM_INTERVAL_SECONDS);
  warming.setBackends(backendsUpTo(WARM_BACKENDS));
  warming.start(() => undefined);
  await sleep(systemClock, WARM_MS);
  await warming.stop();
  return 'ok';
}

function note({ startedAtMs, endedAtMs, outcomes }: CollectRun): void {
  gathers.record(Math.max(1, Math.round((endedAtMs - startedAtMs) * 1000)));
  for (const { kind } of outcomes.values()) {
    if (kind === 'sample') samples++;
    else failures++;
  }
}

function obey(line: string): CollectorFigures | string {
  const [word = '', count] = line.split(' ');
  switch (word) {
    case 'backends':
      collector.setBackends(backendsUpTo(Number(count)));
      collector.hasten();
      return 'ok';
    case 'begin':
      gathers.reset();
      samples = 0;
      failures = 0;
      return 'ok';
    case 'watch':
      delays.enable();
      delays.reset();
      return 'ok';
    case 'figures':
      return figures();
    default:
      throw new Error(`unknown command ${line}`);
  }
}

function figures(): CollectorFigures {
  const delayMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - LOOK_MS);
  return {
    samples,
    failures,
    gatherP50Ms: gathers.percentile(50) / 1000,
    gatherP99Ms: gathers.percentile(99) / 1000,
    loopDelayP50Ms: delayMs(delays.percentile(50)),
    loopDelayP99Ms: delayMs(delays.percentile(99)),
    loopDelayMaxMs: delayMs(delays.max),
  };
}

function backendsUpTo(count: number): readonly Backend[] {
  return Array.from({ length: count }, (_, target) => ({
    id: hostPortOf(target, port),
    address: addressOf(target),
    port,
    weight: 100,
  }));
}
