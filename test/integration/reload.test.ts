import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Configuration } from '../../src/core/model/configuration.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { configure, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** What the operator changes under load; none of it may cost a request. */
describe('a reload under load, everything from the control plane', () => {
  test('a group renamed', async (t) => {
    const { voyage, all } = await start(t, '127.0.50');
    await voyage.underLoad(async () => {
      voyage.app.reload(renamed(configure({ backends: all }), 'mistral'));
      await holds(voyage, 'mistral');
    });
  });

  test('a group renamed whose new servers do not answer for metrics', async (t) => {
    const { voyage, all } = await start(t, '127.0.51');
    for (const backend of all) backend.metrics = () => undefined;
    await voyage.underLoad(async () => {
      voyage.app.reload(renamed(configure({ backends: all }), 'mistral'));
      await holds(voyage, 'mistral');
    });
  });

  test('a listener moved to and fro between two groups', async (t) => {
    const { voyage, all } = await start(t, '127.0.55');
    const one = configure({ backends: all });
    const both = [...one.serverGroups, ...renamed(one, 'mistral').serverGroups];
    await voyage.underLoad(async () => {
      for (const target of ['mistral', 'llama', 'mistral', 'llama', 'mistral']) {
        const listeners = one.listeners.map((listener) => ({ ...listener, serverGroup: target }));
        voyage.app.reload({ ...one, serverGroups: both, listeners });
        await holds(voyage, target);
      }
      // and to one that waits for its backends: the listener follows when they are known
      const folder = await mkdtemp(join(tmpdir(), 'plimsoll-reload-'));
      t.after(() => rm(folder, { recursive: true }));
      const path = join(folder, 'backends.json');
      const found = renamed(configure({ backends: [], discovery: `File: {Path: ${path}}` }), 'found');
      voyage.app.reload({ ...found, serverGroups: [...both, ...found.serverGroups] });
      await waitFor('the wait', () => voyage.log.some((line) => line.includes('nothing is published until')));
      await holds(voyage, 'mistral');
      await writeFile(
        path,
        JSON.stringify(all.map(({ address, port }) => ({ Address: address, Port: port }))),
      );
      await holds(voyage, 'found');
    });
  });

  test('other servers under the same name', async (t) => {
    const { voyage, all } = await start(t, '127.0.52');
    const [first, second] = all as [GaugeBackend, GaugeBackend];
    await voyage.underLoad(async () => {
      voyage.app.reload(configure({ backends: [second], group: 'DrainSeconds: 2' }));
      await voyage.until('its drain', (held) => held.get(first.id)?.health === 'DRAINING');
      await voyage.until('its end', (held) => !held.has(first.id));
    });
  });

  test('another balancing policy in the cluster', async (t) => {
    const { voyage, all } = await start(t, '127.0.53');
    await voyage.underLoad(async () => {
      const before = await warmed(voyage);
      voyage.app.reload(configure({ backends: all, group: 'EnvoyLbPolicy: RoundRobin' }));
      await waitFor('the new cluster', async () => (await warmed(voyage)) > before);
    });
  });

  test('all listeners taken away: the sidecar keeps them', async (t) => {
    const { voyage, all } = await start(t, '127.0.54');
    await voyage.underLoad(() => {
      voyage.app.reload({ ...configure({ backends: all }), listeners: [] });
      return Promise.resolve();
    });
    assert.ok(voyage.log.some((line) => line.includes('no listeners any more')));
  });
});

async function start(t: TestContext, network: string) {
  const all = [1, 2].map((last) => new GaugeBackend(`${network}.${last}`));
  const cleanups = new Cleanups();
  t.after(() => cleanups.run());
  await startBackends(all, cleanups);
  return { voyage: await Voyage.start({ backends: all }, cleanups), all };
}

function renamed({ serverGroups, listeners, ...rest }: Configuration, name: string): Configuration {
  return {
    ...rest,
    serverGroups: serverGroups.map((group) => ({ ...group, name })),
    listeners: listeners.map((listener) => ({ ...listener, serverGroup: name })),
  };
}

/** Waits until 50 more requests have gone through the cluster of that name. */
async function holds(voyage: Voyage, cluster: string): Promise<void> {
  const name = `cluster.${cluster}.upstream_rq_total`;
  const count = async (): Promise<number> =>
    (await voyage.envoy.stats(new RegExp(`^${name.replaceAll('.', '\\.')}$`))).get(name) ?? 0;
  const before = await count();
  await waitFor(`requests in ${cluster}`, async () => (await count()) > before + 50);
}

/** How often a cluster of the sidecar was changed. */
async function warmed(voyage: Voyage): Promise<number> {
  const stats = await voyage.envoy.stats(/^cluster_manager\.cluster_modified$/);
  return stats.get('cluster_manager.cluster_modified') ?? 0;
}
