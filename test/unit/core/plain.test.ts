import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { evaluatePlain } from '../../../src/core/evaluate.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import type { ServerGroup } from '../../../src/core/model/server-group.ts';
import { backend } from '../../support/decisions.ts';
import { backends, loadAwareGroup, one } from '../../support/fleet.ts';

const plain = (servers: readonly Backend[]): ServerGroup => ({
  ...loadAwareGroup(servers),
  loadAware: undefined,
});

test('equal configured weights are published exactly equal, whatever their number', () => {
  for (const weight of [1, 100]) {
    const servers = [3, 1, 2].map((last) => backend(last, { weight }));
    const { assignment, mode, publish, warnings } = evaluatePlain(plain(servers), 5);
    assert.deepEqual(assignment.endpoints, [
      { address: '10.0.3.1', port: 8000, weight: 100_000, health: 'HEALTHY' },
      { address: '10.0.3.2', port: 8000, weight: 100_000, health: 'HEALTHY' },
      { address: '10.0.3.3', port: 8000, weight: 100_000, health: 'HEALTHY' },
    ]);
    assert.deepEqual([mode, publish, warnings], ['configured', 'first', []]);
  }
});

test('2:1 stays 2:1 within the dither, in the same bytes each time and for the same ratio', () => {
  const of = (first: number, second: number) =>
    evaluatePlain(plain([backend(1, { weight: first }), backend(2, { weight: second })]), 5).assignment;
  const [one_ = 0, two = 0] = of(100, 50).endpoints.map(({ weight }) => weight);
  assert.ok(Math.abs(one_ / two - 2) < 0.005 && one_ !== 2 * two);
  assert.deepEqual(of(100, 50), of(100, 50));
  assert.deepEqual(of(100, 50), of(20, 10));
});

test('every backend is decided on in the group’s order, weight 0 aside', () => {
  const decision = evaluatePlain(plain([backend(2), backend(1, { weight: 0 }), backend(3)]), 5);
  assert.deepEqual(
    decision.backends.map((of) => [of.backend.id, of.use, of.weight, of.share, of.relativeWeight]),
    [
      ['10.0.3.2:8000', 'none', 100_000, 0.5, 1],
      ['10.0.3.1:8000', 'aside', 0, 0, 0],
      ['10.0.3.3:8000', 'none', 100_000, 0.5, 1],
    ],
  );
  assert.deepEqual(one(decision, 0).reasons, ['no load-aware extension: configured weight']);
  assert.equal(one(decision, 0).sample, undefined);
});

test('nobody to send to: an empty assignment', () => {
  assert.deepEqual(evaluatePlain(plain([]), 5).assignment.endpoints, []);
  assert.deepEqual(evaluatePlain(plain([backend(1, { weight: 0 })]), 5).assignment.endpoints, []);
  assert.equal(evaluatePlain(plain(backends(2)), 5).backends.length, 2);
});

test('it says why it is published', () => {
  const first = evaluatePlain(plain([backend(11), backend(12)]), 0);
  const again = (servers: readonly Backend[]) => evaluatePlain(plain(servers), 1, first.assignment).publish;
  assert.equal(first.publish, 'first');
  assert.equal(again([backend(11), backend(12, { weight: 50 })]), 'configuration');
  assert.equal(again([backend(11), backend(12, { draining: true })]), 'membership');
  assert.equal(again([backend(11)]), 'membership');
});
