import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Collector } from '../../../src/collect/collector.ts';
import type { PageResult } from '../../../src/collect/page-source.ts';
import type { CollectRun } from '../../../src/core/model/collection.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { CollectorBench, page, refused, timeout } from '../../support/collector-bench.ts';
import { backend } from '../../support/decisions.ts';
import { freePort } from '../../support/ports.ts';
import { RawServer, response } from '../../support/raw-server.ts';
import { IDLE, vllmPage } from '../../support/vllm-page.ts';
import { waitFor } from '../../support/wait-for.ts';

const [ONE, TWO, THREE] = [backend(1), backend(2), backend(3)];

test('files of ours that are bad are not told once more for each backend', async () => {
  const bench = new CollectorBench();
  const bad: PageResult = {
    kind: 'failure',
    failure: { kind: 'credentials', message: 'BearerTokenFile x: it is empty' },
  };
  for (const of of [ONE, TWO]) bench.set(of, 10, bad);
  bench.start(ONE, TWO);
  await bench.clock.advance(500);
  assert.equal(bench.latest[ONE.id], 'credentials at 10 after 10');
  for (const of of [ONE, TWO]) bench.set(of, 10);
  await bench.clock.advance(1000);
  assert.equal(bench.latest[ONE.id], '3 at 1010 after 10');
  assert.deepEqual(bench.log, []);
  await bench.stop();
});

describe('runs', () => {
  test('begin at once, end when all have answered, and keep their phase', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10, page(1));
    bench.set(TWO, 30, page(2));
    bench.start(ONE, TWO);
    await bench.clock.advance(2500);
    assert.deepEqual(bench.spans, ['0..30', '1000..1030', '2000..2030']);
    assert.deepEqual(bench.latest, { [ONE.id]: '1 at 2010 after 10', [TWO.id]: '2 at 2030 after 30' });
    await bench.stop();
  });

  test('say of a backend that its engine sleeps, and each backend has an engine of its own', async () => {
    const bench = new CollectorBench();
    const asleep = 'vllm:engine_sleep_state{sleep_state="awake"} 0\n';
    const tgi = 'tgi_queue_size 7\ntgi_batch_current_size 1\n';
    bench.set(ONE, 10, { kind: 'page', page: Buffer.from(`vllm:num_requests_waiting 0\n${asleep}`) });
    bench.set(TWO, 10, { kind: 'page', page: Buffer.from(tgi) });
    bench.start(ONE, TWO);
    await bench.clock.advance(500);
    assert.deepEqual(bench.latest, { [ONE.id]: 'asleep at 10 after 10', [TWO.id]: '7 at 10 after 10' });
    bench.set(ONE, 10, page(2));
    await bench.clock.advance(1000);
    assert.equal(bench.latest[ONE.id], '2 at 1010 after 10');
    await bench.stop();
  });

  test('without backends are empty', async () => {
    const bench = new CollectorBench();
    bench.start();
    await bench.clock.advance(1500);
    assert.deepEqual(bench.spans, ['0..0', '1000..1000']);
    assert.equal(bench.runs[0]?.outcomes.size, 0);
    await bench.stop();
  });

  // A backend that is still busy is not asked again; one that failed by Timeout is, and is not waited for.
  const limits: readonly (readonly [number, number, readonly string[]])[] = [
    [1, 1, ['0..1000', '1000..1010', '2000..2010']],
    [5, 1, ['0..2000', '2000..2010', '3000..3010']],
    [5, 10, ['0..2000', '10000..10010', '20000..20010']],
  ];
  for (const [timeoutSeconds, intervalSeconds, spans] of limits) {
    test(`end at the gather limit, the first only if one hangs: Timeout ${timeoutSeconds}, Interval ${intervalSeconds}`, async () => {
      const bench = new CollectorBench({ timeoutSeconds, intervalSeconds });
      bench.set(ONE, undefined);
      bench.set(TWO, 10, page(2));
      bench.start(ONE, TWO);
      await bench.clock.advance(3500 * intervalSeconds);
      assert.deepEqual(bench.spans.slice(0, 3), spans);
      assert.equal(bench.runs[0]?.outcomes.get(TWO.id)?.kind, 'sample');
      await bench.stop();
    });
  }

  test('that would fall into a long first run are left out', async () => {
    const bench = new CollectorBench({ timeoutSeconds: 3 });
    bench.set(ONE, 1700);
    bench.start(ONE);
    await bench.clock.advance(1800);
    bench.set(ONE, 10);
    await bench.clock.advance(1700);
    assert.deepEqual(bench.spans, ['0..1700', '2000..2010', '3000..3010']);
    await bench.stop();
  });

  test('go on when an evaluation throws, which is logged', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10);
    bench.collector.setBackends([ONE]);
    let calls = 0;
    bench.collector.start(() => {
      calls++;
      throw new Error('no weights today');
    });
    await bench.clock.advance(1500);
    assert.equal(calls, 2);
    assert.equal(
      bench.log.filter((line) => line['level'] === 50 && line['reason'] === 'no weights today').length,
      2,
    );
    await bench.stop();
  });

  test('can be started only once', async () => {
    const bench = new CollectorBench();
    bench.start();
    assert.throws(() => bench.collector.start(() => undefined), /started only once/);
    await bench.stop();
  });

  test('spread a large group over the first half of the gather limit', async () => {
    const bench = new CollectorBench();
    bench.start(...Array.from({ length: 257 }, (_, index) => backend(index, { port: 1000 + index })));
    await bench.clock.advance(1999);
    const later = bench.fetches.map((fetch) => Number(fetch.split(' ')[0])).filter((at) => at >= 1000);
    assert.equal(later.length, 257);
    assert.ok(Math.max(...later) <= 1250 && Math.max(...later) > 1200);
    assert.equal(bench.runs[1]?.outcomes.size, 257);
    await bench.stop();
  });
});

describe('a backend', () => {
  test('whose answer is late is not asked again before it, and counts in the run after', async () => {
    const bench = new CollectorBench({ timeoutSeconds: 5 });
    bench.set(ONE, 10);
    bench.set(TWO, 10, page(1));
    bench.start(ONE, TWO);
    await bench.clock.advance(900);
    bench.set(TWO, 2100, page(7));
    await bench.clock.advance(1000);
    assert.deepEqual(Object.keys(bench.latest), [ONE.id]);
    bench.set(TWO, 10, page(8));
    await bench.clock.advance(1000);
    assert.deepEqual(Object.keys(bench.latest), [ONE.id]);
    assert.deepEqual(
      bench.fetches.filter((fetch) => fetch.endsWith(TWO.id)),
      [`0 ${TWO.id}`, `1000 ${TWO.id}`],
    );
    await bench.clock.advance(150);
    assert.equal(bench.runs.length, 4);
    assert.deepEqual(Object.keys(bench.latest), [ONE.id]);
    await bench.clock.advance(1000);
    assert.deepEqual(bench.latest[TWO.id], '7 at 3100 after 2100');
    await bench.clock.advance(1000);
    assert.deepEqual(bench.latest[TWO.id], '8 at 5010 after 10');
    await bench.stop();
  });

  test('that answered late and then fails keeps the late answer in that run', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10);
    bench.start(ONE);
    await bench.clock.advance(900);
    bench.set(ONE, 700, page(7));
    await bench.clock.advance(1000);
    assert.deepEqual(bench.latest, {});
    bench.set(ONE, 10, refused);
    await bench.clock.advance(1000);
    assert.deepEqual(bench.latest, { [ONE.id]: '7 at 1700 after 700' });
    await bench.clock.advance(1000);
    assert.deepEqual(bench.latest, { [ONE.id]: 'refused at 3010 after 10' });
    await bench.stop();
  });

  test('that outlives Timeout has failed, in the run after', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10);
    bench.start(ONE);
    await bench.clock.advance(900);
    bench.set(ONE, undefined);
    await bench.clock.advance(1000);
    assert.deepEqual(bench.spans, ['0..10', '1000..1500']);
    assert.deepEqual(bench.latest, {});
    await bench.clock.advance(1000);
    assert.deepEqual(bench.spans, ['0..10', '1000..1500', '2000..2050']);
    assert.deepEqual(bench.latest, { [ONE.id]: 'timeout at 2000 after 1000' });
    await bench.stop();
  });

  test('whose page is no sample has failed with its reason', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10, page(3, 'NaN'));
    bench.start(ONE);
    await bench.clock.advance(20);
    const outcome = bench.runs[0]?.outcomes.get(ONE.id);
    assert.deepEqual(outcome, {
      kind: 'failure',
      failure: { kind: 'not_a_number', message: 'vllm:kv_cache_usage_perc is NaN' },
      atMs: 510,
      durationMs: 10,
    });
    await bench.stop();
  });

  test('needs only the metrics that carry weight', async () => {
    const bench = new CollectorBench({}, ['TotalQueuedRequests']);
    bench.set(ONE, 10, page(3, 'NaN'));
    bench.start(ONE);
    await bench.clock.advance(20);
    const outcome = bench.runs[0]?.outcomes.get(ONE.id);
    assert.ok(outcome?.kind === 'sample');
    assert.equal(outcome.sample.kvUtilization, undefined);
    await bench.stop();
  });

  test('whose source throws has failed, and the others have not', async () => {
    const bench = new CollectorBench();
    bench.behaviours.set(ONE.id, { afterMs: 10, throws: new Error('out of\u0007 order') });
    bench.start(ONE, TWO);
    await bench.clock.advance(20);
    const outcome = bench.runs[0]?.outcomes.get(ONE.id);
    assert.ok(outcome?.kind === 'failure');
    assert.deepEqual(outcome.failure, { kind: 'internal', message: 'out of\\u{7} order' });
    assert.equal(bench.runs[0]?.outcomes.get(TWO.id)?.kind, 'sample');
    await bench.stop();
  });

  test('is logged when it begins to fail, in another way, and when it is back', async () => {
    const bench = new CollectorBench();
    bench.start(ONE);
    for (const result of [page(1), refused, refused, timeout, page(1), page(1)]) {
      bench.set(ONE, 10, result);
      await bench.clock.advance(1000);
    }
    assert.deepEqual(
      bench.log.map((line) => [line['level'], line['backend'], line['reason']]),
      [
        [40, ONE.id, 'refused'],
        [40, ONE.id, 'timeout'],
        [30, ONE.id, undefined],
      ],
    );
    await bench.stop();
  });

  test('that shows percentages is logged once', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10, page(1, 25));
    bench.start(ONE);
    await bench.clock.advance(2500);
    assert.equal(bench.log.length, 1);
    assert.match(String(bench.log[0]?.['msg']), /percentage/);
    await bench.stop();
  });
});

describe('a change of the backends', () => {
  test('hastened, brings a run forward: who left is closed, who stays keeps what is open, and the phase stands', async () => {
    const bench = new CollectorBench();
    bench.start(ONE, TWO);
    await bench.clock.advance(400);
    bench.collector.setBackends([TWO, THREE]);
    bench.collector.hasten();
    await bench.clock.advance(100);
    assert.deepEqual(bench.closed, [ONE.id]);
    assert.deepEqual(new Set(Object.keys(bench.latest)), new Set([TWO.id, THREE.id]));
    await bench.clock.advance(2000);
    assert.deepEqual(
      bench.spans.map((span) => Number(span.split('.')[0])),
      [0, 400, 1000, 2000],
    );
    await bench.stop();
    assert.deepEqual(new Set(bench.closed), new Set([ONE.id, TWO.id, THREE.id]));
  });

  test('hastened while a run is in flight: the next begins when it has ended', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 300);
    bench.start(ONE);
    await bench.clock.advance(100);
    bench.collector.setBackends([ONE, TWO]);
    bench.collector.hasten();
    await bench.clock.advance(600);
    assert.deepEqual(
      bench.spans.slice(0, 2).map((span) => Number(span.split('.')[0])),
      [0, 300],
    );
    await bench.stop();
  });

  test('ends the collection of one that left, and its answer counts no more', async () => {
    const bench = new CollectorBench({ timeoutSeconds: 5 });
    bench.start(ONE, TWO);
    await bench.clock.advance(900);
    bench.set(ONE, 600);
    await bench.clock.advance(500);
    bench.collector.setBackends([TWO]);
    bench.collector.hasten();
    await bench.clock.advance(200);
    assert.deepEqual(bench.closed, [ONE.id]);
    assert.deepEqual(Object.keys(bench.latest), [TWO.id]);
    await bench.stop();
  });
});

describe('stop', () => {
  test('between runs is at once, and leaves no timer', async () => {
    const bench = new CollectorBench();
    bench.set(ONE, 10);
    bench.start(ONE);
    await bench.clock.advance(300);
    await bench.collector.stop();
    assert.deepEqual(bench.closed, [ONE.id]);
    assert.equal(bench.clock.pending, 0);
    await bench.clock.advance(5000);
    assert.equal(bench.runs.length, 1);
  });

  test('lets the run in flight end, and gives up what outlives it', async () => {
    const bench = new CollectorBench({ timeoutSeconds: 60 });
    bench.set(ONE, undefined);
    bench.set(TWO, 300);
    bench.start(ONE, TWO);
    await bench.clock.advance(100);
    let stopped = false;
    const stop = bench.collector.stop().then(() => {
      stopped = true;
    });
    await bench.clock.advance(1800);
    assert.equal(stopped, false);
    assert.equal(bench.runs.length, 0);
    await bench.clock.advance(200);
    await stop;
    assert.deepEqual(bench.spans, ['0..2000']);
    assert.deepEqual(Object.keys(bench.latest), [TWO.id]);
    assert.deepEqual(new Set(bench.closed), new Set([ONE.id, TWO.id]));
    assert.equal(bench.clock.pending, 0);
  });

  test('without a start does nothing', async () => {
    await new CollectorBench().collector.stop();
  });
});

test('over HTTP: a vLLM page by one kept connection, and a port where nobody listens', async (t) => {
  const server = await RawServer.start((socket) => {
    socket.write(response(vllmPage([{ ...IDLE, waiting: 3, kvUsage: 0.5 }])));
  });
  t.after(() => server.stop());
  const dead = backend(0, { address: '127.0.0.1', port: await freePort() });
  const runs: CollectRun[] = [];
  const collector = new Collector({
    settings: collectSettings({ intervalSeconds: 0.1 }),
    clock: systemClock,
    log: silentLogger,
  });
  collector.setBackends([server.backend, dead]);
  collector.start((run) => runs.push(run));
  await waitFor('three runs', () => runs.length >= 3);
  await collector.stop();
  // the first run waits for both, however slow the machine is
  assert.equal(runs[0]?.outcomes.size, 2);
  for (const [id, outcome] of runs.flatMap(({ outcomes }) => [...outcomes])) {
    if (id === dead.id) {
      assert.ok(outcome.kind === 'failure');
      assert.equal(outcome.failure.kind, 'refused');
    } else {
      assert.ok(outcome.kind === 'sample');
      assert.equal(outcome.sample.queued, 3);
      assert.equal(outcome.sample.kvUtilization, 0.5);
      assert.ok(outcome.bytes > 40_000 && outcome.durationMs >= 0);
    }
  }
  assert.equal(server.connections, 1);
  await waitFor('the connection is closed', () => server.open === 0);
});
