import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fullMetricsPage } from '../../support/metrics-page.ts';
import { BucketSum } from '../../soak/bucket-sum.ts';
import { PlanePage } from '../../soak/plane-page.ts';

test('what the soak reads of the metrics page is there', async () => {
  const page = new PlanePage(await fullMetricsPage());
  assert.equal(page.mode, 'balanced');
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_heap_size_used_bytes',
    'process_open_fds',
    'server_group_pushes_total',
    'server_group_shed_ratio',
    'xds_streams',
    'sidecars_behind',
    'sidecars_refusing',
  ]) {
    assert.ok(page.value(`plimsoll_${name}`) >= 0, name);
  }
  assert.ok(Number.isNaN(page.value('plimsoll_no_such_metric')));
  assert.deepEqual(page.buckets('plimsoll_event_loop_delay_seconds').at(-1), { le: Infinity, count: 1 });
});

test('a look tells of every backend, and which the fault is done to', async () => {
  const page = new PlanePage(await fullMetricsPage());
  const { plane } = page.look(3, ['10.0.3.1:8000'], []);
  const [one, other] = plane?.backends ?? [];
  assert.deepEqual([one?.id, one?.target, one?.health], ['10.0.3.1:8000', true, 'HEALTHY']);
  assert.deepEqual([other?.target, other?.health], [false, 'ABSENT']);
  assert.equal(plane?.mode, 'balanced');
});

test('buckets are added up over processes, without what is left out', () => {
  const buckets = (below: number, all: number) => [
    { le: 0.01, count: below },
    { le: Infinity, count: all },
  ];
  const sum = new BucketSum();
  sum.add(1, buckets(90, 100));
  sum.skip(1, buckets(90, 150));
  sum.add(1, buckets(95, 155));
  // another process counts from the beginning
  sum.add(2, buckets(4, 5));
  assert.equal(sum.count, 110);
  assert.equal(sum.quantile(0.8), 0.01);
  assert.equal(sum.quantile(0.99), Infinity);
  assert.ok(Number.isNaN(new BucketSum().quantile(0.5)));
});
