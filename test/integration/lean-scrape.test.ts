import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { Collector } from '../../src/collect/collector.ts';
import { PageClient } from '../../src/collect/page-client.ts';
import type { PageSource } from '../../src/collect/page-source.ts';
import { SampleReader } from '../../src/collect/sample.ts';
import { SamplePlan } from '../../src/collect/sample-plan.ts';
import { Scrape, type Scraped } from '../../src/collect/scrape.ts';
import type { Backend } from '../../src/core/model/backend.ts';
import type { Sample } from '../../src/core/model/collection.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Cleanups } from '../support/cleanups.ts';
import { collectSettings } from '../support/collect-settings.ts';
import { pageOf } from '../support/gauge-backend.ts';
import { type PageAnswer, PageServer } from '../support/page-server.ts';
import { type Load, PythonExporter } from '../support/python-exporter/python-exporter.ts';
import { waitFor } from '../support/wait-for.ts';

const LOAD: Load = { queued: 3, running: 40, kv: 0.5, finished: 7 };
const SAMPLE: Sample = {
  queued: 3,
  running: 40,
  kvUtilization: 0.5,
  finished: 7,
  latency: { sumSeconds: 56, count: 7 },
  prompts: { takenInTokens: 1400, answeredTokens: 700 },
  tokens: 0,
};

const cleanups = new Cleanups();
afterEach(() => cleanups.run());

describe("Python's Prometheus client, wired as vLLM wires it,", () => {
  test('is read lean in one process: far fewer bytes, the same samples', async () => {
    const exporter = await started(1);
    await exporter.show(LOAD);
    const bench = new Bench(exporter.backend);
    const pages = await bench.readTimes(3);
    assert.deepEqual(pages.map(isLean), [false, false, true]);
    const [first, , last] = pages.map(bytesOf);
    assert.ok(first! > 38_000 && first! < 50_000 && last! < 2500, `${first} and ${last} bytes`);
    assert.deepEqual(pages.map(sampleOf), [SAMPLE, SAMPLE, SAMPLE]);
    assert.deepEqual(bench.paths.slice(0, 3), [
      'full',
      'full',
      '/metrics/?name%5B%5D=vllm:num_requests_waiting',
    ]);

    await exporter.show({ ...LOAD, queued: 9, finished: 1 });
    const [moved] = await bench.readTimes(1);
    assert.equal(isLean(moved), true);
    assert.deepEqual([sampleOf(moved)?.queued, sampleOf(moved)?.finished], [9, 8]);

    const sizes = await collectedSizes(exporter.backend);
    // the comparison comes between the first two runs or after the second, as time allows; from then on all are lean
    const firstLean = sizes.findIndex((size) => size < 2500);
    assert.ok(firstLean === 1 || firstLean === 2, sizes.join());
    for (const [run, size] of sizes.entries()) {
      assert.ok(run < firstLean ? size > 38_000 : size < 2500, sizes.join());
    }
  });

  test('is read in full in several processes, where its filter gives an empty page', async () => {
    const exporter = await started(2);
    await exporter.show(LOAD);
    const bench = new Bench(exporter.backend);
    const pages = await bench.readTimes(3);
    assert.deepEqual(pages.map(isLean), [false, false, false]);
    assert.deepEqual(pages.map(sampleOf), [SAMPLE, SAMPLE, SAMPLE]);
    assert.equal(bench.reason, 'the filter gives an empty page');
  });
});

describe('a server that', () => {
  const page = pageOf({ queued: 3, running: 40, kv: 0.5, finished: 7 });
  const own = page.split('\n').filter((line) => line.startsWith('vllm:num_requests_waiting{'));
  const cases: readonly {
    readonly title: string;
    readonly answer: PageAnswer;
    readonly reason: RegExp;
  }[] = [
    { title: 'ignores the filter', answer: { body: page }, reason: /^the filter is ignored$/ },
    {
      title: 'does not know the path',
      answer: { status: 404 },
      reason: /^the filter is refused: status 404$/,
    },
    { title: 'refuses the query', answer: { status: 400 }, reason: /^the filter is refused: status 400$/ },
    {
      title: 'redirects to the path without a slash',
      answer: { status: 307, head: { location: '/metrics' } },
      reason: /^the filter is refused: status 307/,
    },
    { title: 'answers with an empty page', answer: { body: '' }, reason: /^the filter gives an empty page$/ },
    {
      title: 'takes one name only',
      answer: { body: `${own.join('\n')}\n` },
      reason: /^the filter leaves out vllm:num_requests_running\{/,
    },
    {
      title: 'answers with HTML',
      answer: { head: { 'content-type': 'text/html' }, body: '<html></html>' },
      reason: /^the filter is refused: not metrics/,
    },
  ];
  for (const { title, answer, reason } of cases) {
    test(`${title} is read in full`, async () => {
      const starting = PageServer.start((url) => (url === '/metrics' ? { body: page } : answer));
      const server = await cleanups.own(starting, (made) => made.stop());
      const bench = new Bench(server.backend);
      const pages = await bench.readTimes(3);
      assert.deepEqual(pages.map(isLean), [false, false, false]);
      const sample = {
        ...SAMPLE,
        prompts: { takenInTokens: 52_817, answeredTokens: 52_817 },
        tokens: 52_817,
      };
      assert.deepEqual(pages.map(sampleOf), [sample, sample, sample]);
      assert.match(bench.reason ?? '', reason);
    });
  }
});

/** Reads one backend's pages as a collector does. */
class Bench {
  readonly scrape: Scrape;
  /** `full`, or the path up to its second name. */
  readonly paths: string[] = [];
  /** Why the latest comparison was against the lean page. */
  reason: string | undefined;

  constructor(backend: Backend) {
    const settings = collectSettings();
    const client = new PageClient(backend, settings);
    cleanups.add(() => client.close());
    const source: PageSource = {
      fetch: (signal, path) => {
        this.paths.push(path === undefined ? 'full' : path.replace(/&.*/, ''));
        return client.fetch(signal, path);
      },
      close: () => client.close(),
    };
    const plan = new SamplePlan(settings, ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests']);
    const reader = new SampleReader(plan);
    this.scrape = new Scrape({ source, reader, clock: systemClock, leanPath: '/metrics', spread: 0 });
  }

  async readTimes(times: number): Promise<Scraped[]> {
    const pages: Scraped[] = [];
    for (let time = 0; time < times; time++) {
      pages.push(await this.scrape.read(AbortSignal.timeout(10_000)));
      const verdict = await this.scrape.compare(AbortSignal.timeout(10_000));
      if (verdict !== undefined) this.reason = verdict.kind === 'lean' ? undefined : verdict.reason;
    }
    return pages;
  }
}

/** Of the pages of a collector, in the order of its runs. */
async function collectedSizes(backend: Backend): Promise<readonly number[]> {
  const settings = collectSettings({ intervalSeconds: 0.1 });
  const collector = new Collector({ settings, clock: systemClock, log: silentLogger });
  const sizes: number[] = [];
  cleanups.add(() => collector.stop());
  collector.setBackends([backend]);
  collector.start(({ outcomes }) => {
    const outcome = outcomes.get(backend.id);
    if (outcome?.kind === 'sample') sizes.push(outcome.bytes);
  });
  await waitFor('three pages', () => sizes.length > 2);
  return sizes;
}

function started(processes: number): Promise<PythonExporter> {
  return cleanups.own(PythonExporter.start(processes), (exporter) => exporter.stop());
}

function isLean(page: Scraped | undefined): boolean {
  return page?.kind === 'page' && page.lean;
}

function bytesOf(page: Scraped): number {
  return page.kind === 'page' ? page.page.length : 0;
}

function sampleOf(page: Scraped | undefined): Sample | undefined {
  return page?.kind === 'page' && page.reading.kind === 'sample' ? page.reading.sample : undefined;
}
