import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { BUILT_MAIN } from '../support/built-main.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend, pageOf } from '../support/gauge-backend.ts';
import { freePort } from '../support/ports.ts';
import { Replica, replicasFolder, ReplicaSidecar } from '../support/replicas.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import { startBackends, yamlOf } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const DRAIN_SECONDS = 1;
/** In place of the bootstrap's 30 s and 5 s. */
const KEEPALIVE = { interval: '1s', timeout: '2s' };
/** What a scrape says of the replica that it is from. */
const HEADER = 'x-replica';

describe('two replicas and their sidecars, under load', () => {
  const backends = [1, 2, 3, 4].map((last) => new GaugeBackend(`127.0.35.${last}`));
  let replicas: readonly [Replica, Replica];
  let sidecars: readonly [ReplicaSidecar, ReplicaSidecar];
  const cleanups = new Cleanups();

  before(async () => {
    await startBackends(backends, cleanups);
    for (const [index, backend] of backends.entries()) {
      backend.gauges = { queued: 0, running: 20 + 2 * index, kv: 0.2, finished: 0 };
      backend.moving = true;
    }
    const folder = await cleanups.own(replicasFolder(), ({ remove }) => remove());
    const listener = await freePort();
    const yaml = (name: string): string =>
      yamlOf({ backends }, { xds: 0, admin: 0, listener })
        .split('\n')
        .slice(2)
        .join('\n')
        .replace('Path: /metrics', `Path: /metrics, Headers: {${HEADER}: ${name}}`);
    const options = { program: BUILT_MAIN, drainSeconds: DRAIN_SECONDS };
    const start = (name: string): Promise<Replica> =>
      cleanups.own(Replica.start(folder.path, name, yaml(name), options), ({ plane }) => plane.kill());
    replicas = await Promise.all([start('one'), start('two')]);
    const [one, two] = replicas;
    const first = ReplicaSidecar.start('a', yaml('one'), [one], { mode: 'ads', keepalive: KEEPALIVE });
    const a = await cleanups.own(first, (sidecar) => sidecar.stop());
    const second = ReplicaSidecar.start('b', yaml('two'), [two], { mode: 'eds', keepalive: KEEPALIVE });
    const b = await cleanups.own(second, (sidecar) => sidecar.stop());
    sidecars = [a, b];
    for (const sidecar of sidecars) await sidecar.knows(replicas);
  });
  after(() => cleanups.run());

  test('each shows its own sidecars', async () => {
    assert.deepEqual(await nodesOf(replicas), [['a'], ['b']]);
  });

  test('of different views: the weights of their sidecars stand still, and meet again', async (t) => {
    const load = underLoad(t, sidecars);
    const [one, two] = replicas;
    const [a, b] = sidecars;
    const shares = await a.shares();
    const [hidden] = backends as [GaugeBackend, ...GaugeBackend[]];
    hidden.metrics = (request, response) => {
      if (request.headers[HEADER] === 'one') response.writeHead(500).end();
      else response.setHeader('content-type', 'text/plain').end(pageOf({ ...hidden.gauges }));
    };
    const [quietOne, quietTwo] = [await one.pushes(), await two.pushes()];
    await waitFor('the other view', async () => (await one.missed(hidden.id)) >= 2);
    const seen = await watch([a, b], () => one.missed(hidden.id), 4);
    // it counts as the most loaded one, once
    assert.ok((await one.pushes()) - quietOne <= 2, `${(await one.pushes()) - quietOne} pushes`);
    assert.equal(await two.pushes(), quietTwo);
    assert.ok((seen[0] ?? 1) < 0.15, `the shares of a moved by ${seen[0]} in all`);
    assert.equal(seen[1], 0);
    assert.ok(apart(await b.shares(), shares) < 0.02);
    hidden.metrics = undefined;
    await waitFor('the same view', async () => apart(await a.shares(), await b.shares()) < 0.02);
    assert.deepEqual(await load.end(), ['status 200']);
  });

  test('both are restarted, one after the other, and a sidecar comes meanwhile', async (t) => {
    const load = underLoad(t, sidecars);
    const [one, two] = replicas;
    const stopped = one.plane.stop();
    await waitFor('it is not ready', async () => (await one.readiness()) === 503);
    // its address goes after that, and streams are served for as long as they may need to be elsewhere
    assert.deepEqual(await one.nodes(), ['a']);
    const [c] = await Promise.all([
      ReplicaSidecar.start('c', one.yaml, replicas, { mode: 'eds', keepalive: KEEPALIVE }),
      ...sidecars.map((sidecar) => sidecar.knows([two])),
    ]);
    t.after(() => c.stop());
    const later = underLoad(t, [c]);
    await stopped;
    assert.equal(one.plane.exitCode, 0);
    await waitFor('all at the other one', async () => (await two.nodes()).join() === 'a,b,c');
    await one.restart();
    for (const sidecar of sidecars) await sidecar.knows(replicas);
    // this one's address goes too late
    await two.plane.stop();
    assert.equal(two.plane.exitCode, 0);
    await waitFor('all at the first one', async () => (await one.nodes()).join() === 'a,b,c');
    await two.restart();
    assert.deepEqual(await load.end(), ['status 200']);
    assert.deepEqual(await later.end(), ['status 200']);
    for (const sidecar of [...sidecars, c]) assert.equal((await sidecar.shares()).size, backends.length);
  });

  test('one hangs: its sidecars are with the other one after the keepalive', async (t) => {
    const load = underLoad(t, sidecars);
    const [one, two] = replicas;
    process.kill(one.plane.pid, 'SIGSTOP');
    t.after(() => process.kill(one.plane.pid, 'SIGCONT'));
    await waitFor('both at the other one', async () => (await two.nodes()).join() === 'a,b', 20_000);
    process.kill(one.plane.pid, 'SIGCONT');
    await waitFor('none where it hung', async () => (await one.nodes()).length === 0);
    assert.deepEqual(await load.end(), ['status 200']);
    assert.deepEqual(await two.nodes(), ['a', 'b']);
  });

  test('one is killed: its sidecars are with the other one at once', async (t) => {
    const load = underLoad(t, sidecars);
    const [one, two] = replicas;
    await two.plane.kill();
    await waitFor('both at the other one', async () => (await one.nodes()).join() === 'a,b');
    assert.deepEqual(await load.end(), ['status 200']);
  });
});

function nodesOf(replicas: readonly Replica[]): Promise<readonly (readonly string[])[]> {
  return Promise.all(replicas.map((replica) => replica.nodes()));
}

/** Steady load on every sidecar until it is ended: what became of it then. */
function underLoad(
  t: TestContext,
  sidecars: readonly ReplicaSidecar[],
): { readonly end: () => Promise<readonly string[]> } {
  const loads = sidecars.map(({ origin }) => new SteadyLoad(t, origin));
  return {
    end: async () => {
      await waitFor('more of the load', () => loads.every((load) => load.count('status 200') > 50));
      const counts = await Promise.all(loads.map((load) => load.end()));
      return [...new Set(counts.flatMap((count) => [...count.keys()]))];
    },
  };
}

/**
 * How far the shares of each sidecar move in all.
 * @param evaluations as many more of them
 */
async function watch(
  sidecars: readonly ReplicaSidecar[],
  evaluated: () => Promise<number>,
  evaluations: number,
): Promise<readonly number[]> {
  const end = (await evaluated()) + evaluations;
  const moved = sidecars.map(() => 0);
  let last = await Promise.all(sidecars.map((sidecar) => sidecar.shares()));
  await waitFor('some evaluations', async () => {
    const shares = await Promise.all(sidecars.map((sidecar) => sidecar.shares()));
    for (const [index, now] of shares.entries()) {
      moved[index] = (moved[index] ?? 0) + apart(now, last[index] ?? now);
    }
    last = shares;
    return (await evaluated()) >= end;
  });
  return moved;
}

/** Total variation of two sets of shares, 0..1. */
function apart(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  return [...one].reduce((sum, [id, share]) => sum + Math.abs(share - (other.get(id) ?? 0)), 0) / 2;
}
