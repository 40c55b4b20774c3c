import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Resources, Rollout } from '../../../src/publish/rollout.ts';
import type { Resource } from '../../../src/publish/snapshot-store.ts';

const CDS = 'type/Cluster';
const RDS = 'type/Route';
const TIMES = { followMs: 3, retireMs: 10 };

function resource(typeUrl: string, name: string): Resource {
  return { typeUrl, name, version: '1', serverGroup: name, bytes: Buffer.from(name) };
}

/** A configuration whose only route goes to these clusters. */
function routesTo(...names: readonly string[]): Resources {
  return new Map([
    [CDS, new Map(names.map((name) => [name, resource(CDS, name)]))],
    [RDS, new Map([['route', resource(RDS, names.join())]])],
  ]);
}

function served(rollout: Rollout): readonly [route: string | undefined, clusters: readonly string[]] {
  const route = rollout.served.get(RDS)?.get('route')?.serverGroup;
  return [route, [...(rollout.served.get(CDS)?.keys() ?? [])]];
}

test('the first configuration goes out at once, the next one in three steps', () => {
  const rollout = new Rollout(CDS, TIMES);
  rollout.begin(routesTo('a'), 0);
  assert.deepEqual(served(rollout), ['a', ['a']]);
  assert.equal(rollout.advance(0), undefined);
  rollout.begin(routesTo('b'), 100);
  assert.deepEqual(served(rollout), ['a', ['a', 'b']]);
  assert.equal(rollout.advance(102), 103);
  assert.deepEqual(served(rollout), ['a', ['a', 'b']]);
  assert.equal(rollout.advance(103), 113);
  assert.deepEqual(served(rollout), ['b', ['a', 'b']]);
  assert.equal(rollout.advance(113), undefined);
  assert.deepEqual(served(rollout), ['b', ['b']]);
});

test('the same configuration once more before its clusters are out for long enough changes nothing', () => {
  const rollout = new Rollout(CDS, TIMES);
  rollout.begin(routesTo('a'), 0);
  rollout.begin(routesTo('b'), 100);
  rollout.begin(routesTo('b'), 101);
  assert.deepEqual(served(rollout), ['a', ['a', 'b']]);
  assert.equal(rollout.advance(101), 103);
  rollout.advance(103);
  assert.deepEqual(served(rollout), ['b', ['a', 'b']]);
});

test('a configuration that is taken back leaves the route where it was, and its cluster ends', () => {
  const rollout = new Rollout(CDS, TIMES);
  rollout.begin(routesTo('a'), 0);
  rollout.begin(routesTo('b'), 100);
  rollout.begin(routesTo('a'), 101);
  assert.deepEqual(served(rollout), ['a', ['a', 'b']]);
  assert.equal(rollout.advance(105), 111);
  rollout.advance(111);
  assert.deepEqual(served(rollout), ['a', ['a']]);
});

test('a cluster that nobody uses ends in time, however often the configuration changes meanwhile', () => {
  const rollout = new Rollout(CDS, TIMES);
  rollout.begin(routesTo('a', 'old'), 0);
  for (let nowMs = 100; nowMs <= 110; nowMs++) rollout.begin(routesTo('a'), nowMs);
  assert.deepEqual(served(rollout), ['a', ['a']]);
});

test('a configuration without anything says nothing of routes, and the cluster of the one before does not end', () => {
  const rollout = new Rollout(CDS, TIMES);
  const nothing: Resources = new Map();
  rollout.begin(nothing, 0);
  assert.equal(rollout.served.size, 0);
  rollout.begin(routesTo('a'), 0);
  rollout.begin(routesTo('b'), 100);
  rollout.begin(nothing, 101);
  assert.deepEqual(served(rollout), [undefined, ['a', 'b']]);
  assert.equal(rollout.advance(111), undefined, 'the one that no route used has ended');
  assert.deepEqual(served(rollout), [undefined, ['a']]);
  rollout.begin(routesTo('b'), 200);
  assert.deepEqual(served(rollout), ['a', ['a', 'b']]);
  assert.equal(rollout.advance(203), 213);
  assert.deepEqual(served(rollout), ['b', ['a', 'b']]);
});

test('whatever comes and when: no route goes to a cluster that is not out for long enough, none is left behind', () => {
  // undefined: no listeners, sidecars keep theirs
  const names = fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 }), {
    nil: undefined,
  });
  const changes = fc.array(fc.record({ names, after: fc.nat(15) }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(changes, (steps) => {
      const rollout = new Rollout(CDS, TIMES);
      const since = new Map<string, number>();
      let nowMs = 0;
      let kept = '';
      const look = (): void => {
        const [told, clusters] = served(rollout);
        const route = told ?? kept;
        kept = route;
        for (const name of since.keys()) if (!clusters.includes(name)) since.delete(name);
        const first = since.size === 0;
        for (const name of clusters) if (!since.has(name)) since.set(name, first ? -TIMES.followMs : nowMs);
        for (const name of route.split(',').filter(Boolean)) {
          assert.ok(nowMs - (since.get(name) ?? nowMs) >= TIMES.followMs, `${route} at ${nowMs}`);
        }
      };
      for (const step of steps) {
        rollout.begin(step.names === undefined ? new Map() : routesTo(...step.names), nowMs);
        look();
        for (let wait = 0; wait < step.after; wait++) {
          nowMs++;
          rollout.advance(nowMs);
          look();
        }
      }
      rollout.advance(nowMs + TIMES.followMs);
      rollout.advance(nowMs + TIMES.followMs + TIMES.retireMs);
      const last = steps.at(-1)?.names ?? kept.split(',').filter(Boolean);
      assert.deepEqual(served(rollout)[1].toSorted(), last.toSorted());
      assert.equal(rollout.advance(nowMs + 1000), undefined);
    }),
    { seed: 7, numRuns: 500 },
  );
});
