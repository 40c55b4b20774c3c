import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { KubeCluster } from '../support/kube-cluster.ts';
import { pod, podStatus } from '../support/kube-objects.ts';
import { startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const DRAIN_SECONDS = 2;
const STAYS = 'example.com/stays';

/** Pods, as the API server refuses EndpointSlices with addresses of 127.0.0.0/8. */
describe('an Envoy that follows the pods of a fleet', { timeout: 280_000 }, () => {
  const backends = [1, 2, 3, 4, 5].map((last) => new GaugeBackend(`127.0.84.${last}`));
  let cluster: KubeCluster;
  let voyage: Voyage;
  const cleanups = new Cleanups();

  const nameOf = (backend: GaugeBackend): string => `llama-${backend.address.split('.').at(-1)}`;
  const add = (backend: GaugeBackend): Promise<void> =>
    cluster.runPod(
      pod({ name: nameOf(backend), labels: { app: 'llama' }, finalizers: [STAYS] }),
      podStatus(backend.address),
    );
  /** Its deletion begins: it serves until {@link gone}. */
  const end = (backend: GaugeBackend) =>
    cluster.api.admin.call('DELETE', cluster.core('pods', nameOf(backend)));
  const gone = (backend: GaugeBackend) =>
    cluster.api.admin.call('PATCH', cluster.core('pods', nameOf(backend)), { metadata: { finalizers: [] } });
  const held = (what: string, ...ids: readonly GaugeBackend[]) =>
    voyage.until(
      what,
      (all) =>
        [...all.keys()].toSorted().join() ===
        ids
          .map(({ id }) => id)
          .toSorted()
          .join(),
    );

  before(async () => {
    cluster = await cleanups.own(KubeCluster.start(), (started) => started.stop());
    const [first, ...others] = backends as [GaugeBackend, ...GaugeBackend[]];
    await startBackends([first], cleanups);
    // pods of one selector have one port
    cleanups.add(() => Promise.all(others.map((backend) => backend.stop())));
    for (const backend of others) await backend.start(first.port);
    for (const backend of backends) backend.moving = true;
    for (const backend of backends.slice(0, 2)) await add(backend);
    const discovery = { Namespace: cluster.namespace, PodSelector: 'app=llama', Port: first.port };
    voyage = await Voyage.start(
      {
        backends: [],
        discovery: `Kubernetes: ${JSON.stringify({ ...discovery, KubeconfigFile: await cluster.kubeconfig() })}`,
        group: `DrainSeconds: ${DRAIN_SECONDS}`,
      },
      cleanups,
    );
  });
  after(() => cleanups.run());

  test('scale up and down, all ending at once, and an API server that is away: no request fails', async () => {
    const [first, second, third, fourth, fifth] = backends as [
      GaugeBackend,
      GaugeBackend,
      GaugeBackend,
      GaugeBackend,
      GaugeBackend,
    ];
    await held('the first two', first, second);
    await voyage.underLoad(async () => {
      for (const backend of [third, fourth, fifth]) await add(backend);
      await held('five', ...backends);
      await voyage.until('requests for each', () => backends.every(({ hits }) => hits > 0));

      // as a rollout does it: it ends, serves for a while, and is gone
      await end(first);
      await voyage.until('DRAINING', (all) => all.get(first.id)?.health === 'DRAINING');
      const { hits } = first;
      assert.ok((await voyage.tally(100)).get(first.id) === undefined);
      assert.equal(first.hits, hits);
      await gone(first);
      await held('four', second, third, fourth, fifth);
      await first.stop();

      await cluster.api.stopServer();
      assert.equal((await voyage.tally(100)).size, 4);
      await cluster.api.startServer();
      await end(second);
      await gone(second);
      await held('three', third, fourth, fifth);

      for (const backend of [third, fourth, fifth]) await end(backend);
      await waitFor('the last resort', () => /about to go/.test(voyage.log.join('')));
      await voyage.until('three that take requests', (all) =>
        [third, fourth, fifth].every(({ id }) => all.get(id)?.health === 'HEALTHY'),
      );
      assert.equal((await voyage.tally(100)).size, 3);
      await add(second);
      await voyage.until('the newcomer', (all) => all.get(second.id)?.health === 'HEALTHY');
      await voyage.until('DRAINING', (all) => all.get(third.id)?.health === 'DRAINING');
    });
  });
});
