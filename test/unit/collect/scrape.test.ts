import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { leanBase, leanPath } from '../../../src/collect/lean-path.ts';
import { SampleReader, type SampleReading } from '../../../src/collect/sample.ts';
import { SamplePlan } from '../../../src/collect/sample-plan.ts';
import { Scrape, type Scraped } from '../../../src/collect/scrape.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Filter, LeanExporter } from '../../support/lean-exporter.ts';

const SCORERS = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'] as const;
const MINUTE = 60_000;
const LABELS = '{engine="0",model_name="m"}';
const WAITING = `vllm:num_requests_waiting${LABELS}`;
const FINISHED = `vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"}`;

/** One backend that is collected from once a second. */
class Bench {
  readonly clock = new FakeClock(1_000_000);
  readonly exporter = new LeanExporter(this.clock);
  readonly scrape: Scrape;
  last: Scraped | undefined;

  constructor(path: string | null = '/metrics') {
    this.scrape = new Scrape({
      source: this.exporter,
      reader: newReader(),
      clock: this.clock,
      leanPath: path ?? undefined,
      spread: 0.5,
    });
    this.set({ [WAITING]: 3, [`vllm:num_requests_running${LABELS}`]: 5 });
    this.set({ [`vllm:kv_cache_usage_perc${LABELS}`]: 0.5, [FINISHED]: 100 });
    this.set({ [`vllm:e2e_request_latency_seconds_sum${LABELS}`]: 800.5 });
    this.set({ [`vllm:e2e_request_latency_seconds_count${LABELS}`]: 100 });
  }

  set(values: Readonly<Record<string, number>>): void {
    for (const [key, value] of Object.entries(values)) this.exporter.series.set(key, value);
  }

  /** @returns the requests that it takes */
  async collect(afterMs = 1000): Promise<string> {
    await this.clock.advance(afterMs);
    this.exporter.requests.length = 0;
    const signal = this.#deadline();
    this.last = await this.scrape.read(signal);
    if (this.scrape.isToBeCompared) await this.scrape.compare(this.#deadline());
    return this.exporter.requests.join(' ');
  }

  async collectTimes(times: number, afterMs = 1000): Promise<string[]> {
    const all: string[] = [];
    for (let time = 0; time < times; time++) all.push(await this.collect(afterMs));
    return all;
  }

  /** As far as it is lean. */
  async settle(): Promise<void> {
    await this.collectTimes(2);
    assert.equal(await this.collect(), 'lean');
  }

  get queued(): number | undefined {
    return this.last?.kind === 'page' ? sampleOf(this.last.reading)?.queued : undefined;
  }

  /** An exporter that hangs has no time at all: the clock stands still meanwhile. */
  #deadline(): AbortSignal {
    return this.exporter.filter === 'hangs' ? AbortSignal.abort() : new AbortController().signal;
  }
}

function newReader(): SampleReader {
  return new SampleReader(new SamplePlan(collectSettings(), SCORERS));
}

describe('a backend whose exporter can filter', () => {
  test('is read in full, compared once, and read lean from then on', async () => {
    const bench = new Bench();
    assert.deepEqual(await bench.collectTimes(4), ['full', 'full lean', 'lean', 'lean']);
    bench.set({ [WAITING]: 9 });
    await bench.collect();
    assert.equal(bench.queued, 9);
  });

  test('is compared with the full pages before and after where values move', async () => {
    const bench = new Bench();
    let finished = 100;
    bench.exporter.onRequest = () => {
      bench.set({ [FINISHED]: finished++ });
    };
    assert.deepEqual(await bench.collectTimes(3), ['full', 'full lean full', 'lean']);
  });

  test('is compared again every ten minutes', async () => {
    const bench = new Bench();
    await bench.settle();
    assert.equal(await bench.collect(9 * MINUTE), 'lean');
    assert.equal(await bench.collect(MINUTE), 'full lean');
    assert.equal(await bench.collect(), 'lean');
    bench.exporter.filter = 'doubled';
    assert.equal(await bench.collect(10 * MINUTE), 'full lean full');
    assert.deepEqual(await bench.collectTimes(3), ['full lean full', 'full lean full', 'full']);
  });

  test('may show more series than before, which it must keep', async () => {
    const bench = new Bench();
    await bench.settle();
    const other = WAITING.replace('engine="0"', 'engine="1"');
    bench.set({ [other]: 4 });
    assert.equal(await bench.collect(), 'lean');
    assert.equal(bench.queued, 7);
    bench.exporter.series.delete(other);
    assert.equal(await bench.collect(), 'lean full');
    assert.equal(bench.queued, 3);
  });
});

describe('a filter that', () => {
  const cases: readonly (readonly [Filter, string])[] = [
    ['ignored', 'full lean'],
    ['empty', 'full lean'],
    ['partial', 'full lean'],
    ['status 404', 'full lean'],
    ['html', 'full lean'],
  ];
  for (const [filter, compared] of cases) {
    test(`is ${filter} is not used, and tried again after ten minutes`, async () => {
      const bench = new Bench();
      bench.exporter.filter = filter;
      assert.deepEqual(await bench.collectTimes(4), ['full', compared, 'full', 'full']);
      assert.equal(bench.queued, 3);
      bench.exporter.filter = 'works';
      assert.equal(await bench.collect(10 * MINUTE), 'full lean');
      assert.equal(await bench.collect(), 'lean');
    });
  }

  for (const filter of ['doubled', 'hangs', 'reset'] as const) {
    test(`is ${filter} is given up after three times`, async () => {
      const bench = new Bench();
      bench.exporter.filter = filter;
      const all = await bench.collectTimes(6);
      assert.deepEqual(
        all.map((requests) => requests.includes('lean')),
        [false, true, true, true, false, false],
      );
    });
  }

  for (const filter of ['empty', 'partial', 'status 404', 'html', 'reset'] as const) {
    test(`comes to be ${filter} costs a full page in the same collection`, async () => {
      const bench = new Bench();
      await bench.settle();
      bench.exporter.filter = filter;
      bench.set({ [WAITING]: 11 });
      assert.equal(await bench.collect(), 'lean full');
      assert.equal(bench.queued, 11);
      assert.equal((await bench.collect()).startsWith('full lean'), true);
    });
  }

  test('comes to leave out a series is told with as much of its labels as a log can take', async () => {
    const bench = new Bench();
    bench.set({ [WAITING.replace('"0"', `"\u001b[2J${'x'.repeat(900)}"`)]: 0 });
    await bench.settle();
    bench.exporter.filter = 'partial';
    await bench.collect();
    assert.match(
      bench.scrape.lost ?? '',
      /^vllm:num_requests_waiting\{engine="\\u\{1b\}\[2Jx{100,180}… is no longer/,
    );
  });

  test('comes to be ignored is used no more, but that page is', async () => {
    const bench = new Bench();
    await bench.settle();
    bench.exporter.filter = 'ignored';
    bench.set({ [WAITING]: 11 });
    assert.equal(await bench.collect(), 'lean');
    assert.equal(bench.queued, 11);
    assert.deepEqual(await bench.collectTimes(3), ['full', 'full lean', 'full']);
  });

  test('hangs is a miss once, and from the second time on the full page is asked for', async () => {
    const bench = new Bench();
    await bench.settle();
    bench.exporter.filter = 'hangs';
    assert.deepEqual(await bench.collectTimes(3), ['lean', 'lean', 'full']);
  });

  test('is lost again and again is tried ever more seldom', async () => {
    const bench = new Bench();
    await bench.settle();
    const comparedAfter: number[] = [];
    for (let loss = 0; loss < 4; loss++) {
      bench.exporter.filter = 'empty';
      assert.equal(await bench.collect(), 'lean full');
      bench.exporter.filter = 'works';
      let seconds = 1;
      while ((await bench.collect()) === 'full') seconds++;
      comparedAfter.push(seconds);
      assert.equal(await bench.collect(), 'lean');
    }
    assert.deepEqual(comparedAfter, [1, 30, 60, 120]);
  });
});

describe('a backend that', () => {
  test('refuses is read in full when it is back, and compared anew', async () => {
    const bench = new Bench();
    await bench.settle();
    bench.exporter.down = true;
    assert.deepEqual(await bench.collectTimes(2), ['lean', 'full']);
    bench.exporter.down = false;
    assert.deepEqual(await bench.collectTimes(3), ['full', 'full lean', 'lean']);
  });

  test('has restarted, as a counter tells, is read in full at once and compared anew', async () => {
    const bench = new Bench();
    await bench.settle();
    bench.set({ [FINISHED]: 2 });
    assert.deepEqual(await bench.collectTimes(3), ['lean full', 'full lean', 'lean']);
  });

  for (const [what, count, length] of [
    ['many series', 1001, 1],
    ['long labels', 20, 8000],
  ] as const) {
    test(`has ${what} is not read lean`, async () => {
      const bench = new Bench();
      for (let index = 0; index < count; index++)
        bench.set({ [`vllm:num_requests_waiting{engine="${index}${'x'.repeat(length)}"}`]: 0 });
      assert.deepEqual(await bench.collectTimes(3), ['full', 'full lean', 'full']);
      assert.equal(bench.queued, 3);
    });
  }

  test('is several servers by turns is soon read in full only', async () => {
    const bench = new Bench();
    let finished = 0;
    bench.exporter.onRequest = () => {
      bench.set({ [FINISHED]: ++finished % 9 === 0 ? 0 : finished });
    };
    const all = await bench.collectTimes(300);
    assert.equal(bench.queued, 3);
    const requests = all.join(' ').split(' ');
    assert.ok(
      requests.filter((of) => of === 'lean').length < 60 && requests.length < 330,
      requests.join(' '),
    );
  });

  test('has become another engine is read in full at once and asked for other names', async () => {
    const bench = new Bench();
    await bench.settle();
    bench.exporter.series.clear();
    bench.set({ 'sglang:num_queue_reqs': 8, 'sglang:num_running_reqs': 1, 'sglang:token_usage': 0.1 });
    assert.equal(await bench.collect(), 'lean full');
    assert.equal(bench.queued, 8);
    assert.deepEqual(await bench.collectTimes(2), ['full lean', 'lean']);
  });

  test('is not to be read lean is not asked to', async () => {
    const bench = new Bench(null);
    assert.deepEqual(await bench.collectTimes(3), ['full', 'full', 'full']);
  });
});

test('a lean page never gives another sample than the full one', async () => {
  const series = fc.constantFrom(
    WAITING,
    WAITING.replace('engine="0"', 'engine="1"'),
    'vllm:gpu_cache_usage_perc',
    `vllm:request_success_total{finished_reason="length"}`,
    'vllm:unrelated',
  );
  const filter = fc.constantFrom<Filter>(
    'works',
    'works',
    'ignored',
    'empty',
    'partial',
    'doubled',
    'status 404',
    'html',
    'reset',
  );
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('collect' as const), times: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('set' as const),
        series,
        value: fc.integer({ min: 0, max: 9 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('vanish' as const), series }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('restart' as const), filter, seen: fc.boolean() }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const bench = new Bench();
      await bench.settle();
      const { exporter } = bench;
      // an engine at work: something is finished between any two requests
      exporter.onRequest = () => {
        bench.set({ [FINISHED]: (exporter.series.get(FINISHED) ?? 0) + 1 });
      };
      for (const each of steps) {
        switch (each.kind) {
          case 'set':
            bench.set({ [each.series]: each.value });
            break;
          case 'vanish':
            exporter.series.delete(each.series);
            break;
          case 'restart':
            // not seen as a refusal, it is by a counter
            bench.set({ [FINISHED]: 1000 });
            await bench.collect();
            exporter.filter = each.filter;
            bench.set({ [FINISHED]: 0 });
            exporter.down = each.seen;
            if (each.seen) await bench.collect();
            exporter.down = false;
            break;
          case 'collect':
            for (let time = 0; time < each.times; time++) {
              exporter.truths.length = 0;
              await bench.collect();
              const truths = exporter.truths.map((truth) => newReader().read(truth.page));
              assert.ok(truths.some((truth) => sameSample(truth, bench.last)));
            }
        }
      }
    }),
    { numRuns: 80 },
  );
});

function sameSample(truth: SampleReading, last: Scraped | undefined): boolean {
  if (last?.kind !== 'page' || truth.kind !== last.reading.kind) return false;
  return truth.kind !== 'sample' || isDeepStrictEqual(truth.sample, sampleOf(last.reading));
}

function sampleOf(reading: SampleReading): Sample | undefined {
  return reading.kind === 'sample' ? reading.sample : undefined;
}

describe('the path of a lean page', () => {
  test('ends in a slash and names what is wanted', () => {
    const query = '?name%5B%5D=vllm:a&name%5B%5D=b%26c';
    assert.equal(leanPath('/metrics', ['vllm:a', 'b&c']), `/metrics/${query}`);
    assert.equal(leanPath('/metrics/', ['vllm:a', 'b&c']), `/metrics/${query}`);
  });

  test('is there unless it is turned off, the method is another, or the path has a query', () => {
    const changes = [
      {},
      { leanScrape: false },
      { method: 'POST' },
      { path: '/metrics?all' },
      { path: '/v1/metrics' },
    ] as const;
    assert.deepEqual(
      changes.map((change) => leanBase(collectSettings(change))),
      ['/metrics', undefined, undefined, undefined, '/v1/metrics'],
    );
  });
});
