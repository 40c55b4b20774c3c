import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArmName, CellResult, Scenario } from '../bench/routing/model.ts';
import { playCell } from '../bench/routing/play-cell.ts';

/** Everything that can happen in a cell of the routing bench, in a few seconds. */
const SCENARIO: Scenario = {
  name: 'all-at-once',
  title: 'all at once',
  backends: 4,
  stay: 'short',
  slowness: [1, 1, 1, 2],
  warmUpSeconds: 2,
  stretches: [{ seconds: 6, load: 0.4 }],
  happenings: [
    { atSeconds: 1, backend: 2, change: { kind: 'join' } },
    { atSeconds: 1, backend: 3, change: { kind: 'metrics-gone', gone: true } },
    { atSeconds: 2, backend: 3, change: { kind: 'slowness', factor: 1 } },
    { atSeconds: 4, backend: 1, change: { kind: 'failing', on: true } },
  ],
  intervalSeconds: 0.5,
  cancelledShare: 0.2,
};

async function play(arm: ArmName): Promise<CellResult> {
  return playCell({ scenario: SCENARIO, arm, sidecars: 2, seed: 3, rateFactor: 1 });
}

/** How many requests backend `index` answered in full, planned between two times. */
function okOf({ requests }: CellResult, index: number, fromMs: number, toMs: number): number {
  return requests.atMs.filter(
    (atMs, at) =>
      atMs >= fromMs && atMs < toMs && requests.backend[at] === index && requests.outcome[at] === 'ok',
  ).length;
}

test('cells of the routing bench, side by side: what is to happen happens, and every request is accounted for', async () => {
  const [plain, orca, ours] = await Promise.all([play('least-request'), play('orca'), play('adaptive')]);
  assert.equal(plain.controlPlane, null);
  assert.equal(orca.controlPlane, null);
  for (const result of [plain, orca, ours]) {
    const { requests, spread } = result;
    assert.deepEqual(requests.atMs, ours.requests.atMs);
    assert.ok(requests.atMs.length > 20, `${requests.atMs.length} requests`);
    assert.equal(okOf(result, 2, 0, 900), 0, 'before it joins');
    assert.equal(okOf(result, 1, 4500, 6000), 0, 'while it fails');
    assert.ok(requests.outcome.includes('cancelled'));
    assert.ok(Math.abs(spread.served.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
    assert.ok(result.envoyCpuSeconds > 0 && result.machineCpu > 0);
  }
  assert.ok((ours.controlPlane?.pushes ?? 0) > 0);
  for (const result of [plain, orca]) assert.ok(okOf(result, 2, 2000, 6000) > 0, 'after it joined');
  // its slow start leaves it hardly a request in this time
  assert.ok((ours.spread.published?.[2] ?? 0) > 0);
});
