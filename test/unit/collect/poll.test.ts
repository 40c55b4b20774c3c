import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CollectLog } from '../../../src/collect/collect-log.ts';
import { Poll } from '../../../src/collect/poll.ts';
import { SampleReader } from '../../../src/collect/sample.ts';
import { SamplePlan } from '../../../src/collect/sample-plan.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { LeanExporter } from '../../support/lean-exporter.ts';

describe('the comparison of a lean page with a full one', () => {
  test('does not hold up the outcome', async () => {
    const bench = new Bench();
    await bench.collect();
    const { outcome } = bench.begin();
    await bench.clock.advance(10);
    assert.equal((await outcome)?.kind, 'sample');
    assert.deepEqual(bench.exporter.requests, ['full', 'full', 'lean']);
    assert.equal(bench.poll.busy, true);
    await bench.clock.advance(10);
    assert.equal(bench.poll.busy, false);
    assert.equal(bench.poll.lastMs, 10);
  });

  test('ends soon when the lean page does not come', async () => {
    const bench = new Bench();
    bench.exporter.filter = 'hangs';
    await bench.collect();
    bench.begin();
    await bench.clock.advance(10);
    await bench.clock.advance(129);
    assert.equal(bench.poll.busy, true);
    await bench.clock.advance(1);
    assert.equal(bench.poll.busy, false);
    assert.equal(bench.clock.pending, 0);
  });

  test('ends when the poll is closed', async () => {
    const bench = new Bench();
    bench.exporter.filter = 'hangs';
    await bench.collect();
    const { outcome } = bench.begin();
    await bench.clock.advance(10);
    await outcome;
    await bench.poll.close();
    assert.equal(bench.clock.pending, 0);
  });

  test('is not begun when the poll is closed', async () => {
    const bench = new Bench();
    await bench.collect();
    const { outcome } = bench.begin();
    await bench.clock.advance(5);
    await bench.poll.close();
    assert.equal(await outcome, undefined);
    assert.deepEqual(bench.exporter.requests, ['full', 'full']);
    assert.equal(bench.clock.pending, 0);
  });
});

test('a lean page that does not do and the full one in its place have one deadline', async () => {
  const bench = new Bench();
  await bench.collect();
  await bench.collect();
  bench.exporter.delayMs = 600;
  bench.exporter.filter = 'empty';
  const { outcome } = bench.begin();
  await bench.clock.advance(1000);
  const ended = await outcome;
  assert.equal(ended?.kind === 'failure' && ended.failure.kind, 'timeout');
  assert.equal(ended?.durationMs, 1000);
});

/** A poll of an exporter that answers after 10 ms. */
class Bench {
  readonly clock = new FakeClock();
  readonly exporter = new LeanExporter(this.clock);
  readonly poll: Poll;

  constructor() {
    const { exporter, clock } = this;
    exporter.delayMs = 10;
    for (const name of ['num_requests_waiting', 'num_requests_running', 'kv_cache_usage_perc'])
      exporter.series.set(`vllm:${name}`, 0.5);
    const plan = new SamplePlan(collectSettings(), ['TotalQueuedRequests']);
    this.poll = new Poll({
      id: '127.0.0.1:8000',
      source: exporter,
      reader: new SampleReader(plan),
      leanPath: '/metrics',
      timeoutMs: 1000,
      clock,
      log: new CollectLog({ log: silentLogger, clock }),
    });
  }

  /** Wrapped, so that awaiting this does not wait for it. */
  begin(): { readonly outcome: ReturnType<Poll['collect']> } {
    return { outcome: this.poll.collect() };
  }

  /** Until nothing is under way. */
  async collect(): Promise<void> {
    this.begin();
    await this.clock.advance(500);
    assert.equal(this.poll.busy, false);
  }
}
