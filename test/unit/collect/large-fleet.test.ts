import assert from 'node:assert/strict';
import dns from 'node:dns';
import { test } from 'node:test';
import { Collector } from '../../../src/collect/collector.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { CollectRun } from '../../../src/core/model/collection.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { CollectorBench } from '../../support/collector-bench.ts';
import { backend } from '../../support/decisions.ts';
import { RawServer, response } from '../../support/raw-server.ts';
import { IDLE, vllmPage } from '../../support/vllm-page.ts';
import { waitFor } from '../../support/wait-for.ts';

const fleet = (count: number): readonly Backend[] =>
  Array.from({ length: count }, (_, index) => backend(index, { port: 1000 + index }));

test('many that join or leave at once are begun and closed a few at a time', async () => {
  const bench = new CollectorBench();
  const many = fleet(600);
  for (const of of many) bench.set(of, 10);
  const { clock } = bench;
  /** How much was done in each turn of the event loop. */
  const turns: number[] = [];
  let done = 0;
  const schedule = clock.schedule.bind(clock);
  clock.schedule = (milliseconds, callback) =>
    schedule(milliseconds, () => {
      turns.push(bench.fetches.length + bench.closed.length - done);
      done = bench.fetches.length + bench.closed.length;
      callback();
    });
  bench.start(...many);
  await clock.advance(1900);
  bench.collector.setBackends([]);
  bench.collector.hasten();
  await clock.advance(1000);
  assert.equal(new Set(bench.fetches.map((fetch) => fetch.split(' ')[1])).size, 600);
  assert.equal(bench.closed.length, 600);
  assert.ok(Math.max(...turns) <= 32, `${Math.max(...turns)} in one turn`);
  await bench.stop();
  assert.equal(clock.pending, 0);
});

test('one that never answers costs one socket, and nobody is looked up by name', async (t) => {
  const hanging = await RawServer.start(() => undefined);
  const good = await RawServer.start((socket) => {
    socket.write(response(vllmPage([{ ...IDLE, waiting: 3 }])));
  });
  t.after(() => Promise.all([hanging.stop(), good.stop()]));
  const lookup = t.mock.method(dns, 'lookup');
  const runs: CollectRun[] = [];
  const collector = new Collector({
    settings: collectSettings({ intervalSeconds: 0.1, timeoutSeconds: 60, leanScrape: false }),
    clock: systemClock,
    log: silentLogger,
  });
  collector.setBackends([hanging.backend, good.backend]);
  collector.start((run) => runs.push(run));
  t.after(() => collector.stop());
  await waitFor('more runs', () => runs.length > 5);
  assert.equal(runs.at(-1)?.outcomes.get(good.backend.id)?.kind, 'sample');
  assert.deepEqual([hanging.connections, hanging.requests.length], [1, 1]);
  assert.equal(good.connections, 1);
  assert.equal(lookup.mock.callCount(), 0);
});
