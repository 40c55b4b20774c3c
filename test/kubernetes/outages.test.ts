import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { CuttableWire } from '../support/cuttable-wire.ts';
import type { DiscoveryRun } from '../support/discovery-run.ts';
import { KubeCluster } from '../support/kube-cluster.ts';
import { service, slice } from '../support/kube-objects.ts';

describe('outages of a real API server', { timeout: 290_000 }, () => {
  let cluster: KubeCluster;
  const cleanups = new Cleanups();
  let wire: CuttableWire;
  before(async () => {
    cluster = await cleanups.own(KubeCluster.start(), (started) => started.stop());
    wire = await cleanups.own(CuttableWire.open(cluster.api.port), (opened) => opened.close());
    await cluster.api.admin.call('POST', cluster.core('services'), service('llama'));
  });
  after(() => cleanups.run());
  afterEach(async () => {
    await cluster.endRuns();
    await cluster.api.admin.ask('DELETE', cluster.slices('llama-1'));
  });

  const object = (addresses: readonly string[]) =>
    slice({ name: 'llama-1', service: 'llama', endpoints: addresses.map((address) => ({ address })) });

  /** Follows the Service, of one endpoint, through the wire. */
  async function follow(): Promise<DiscoveryRun> {
    await cluster.api.admin.call('POST', cluster.slices(), object(['10.0.0.1']));
    const kubeconfig = await cluster.kubeconfig(undefined, `https://127.0.0.1:${wire.port}`);
    const target = { kind: 'Service', service: 'llama', portName: undefined } as const;
    const run = await cluster.discover(target, kubeconfig);
    await run.until(['10.0.0.1:8000']);
    await cluster.watched('endpointslices', 1);
    await cluster.watched('services', 1);
    return run;
  }

  async function change(...addresses: readonly string[]): Promise<void> {
    await cluster.api.admin.call('PUT', cluster.slices('llama-1'), object(addresses));
  }

  test('a watch that is cut is taken up where it was', async () => {
    const run = await follow();
    wire.hold();
    wire.cut();
    await change('10.0.0.1', '10.0.0.2');
    wire.release();
    await run.until(['10.0.0.1:8000', '10.0.0.2:8000']);
    assert.deepEqual(run.failures, []);
  });

  test('a version that is too old makes a new list', async () => {
    const run = await follow();
    const { metadata } = (await cluster.api.admin.ask('GET', cluster.slices())).body;
    const { resourceVersion } = metadata as { readonly resourceVersion: string };
    wire.hold();
    wire.cut();
    await change('10.0.0.3');
    await cluster.api.compact();
    await cluster.api.stopServer();
    await cluster.api.startServer();
    const watch = `?watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}`;
    const { body } = await cluster.api.admin.ask('GET', cluster.slices() + watch);
    assert.equal((body['object'] as { readonly code: number }).code, 410);
    wire.release();
    await run.until(['10.0.0.3:8000'], 60_000);
    assert.deepEqual(run.failures, []);
  });

  test('while the API server is gone the last list stands, and a reason is told', async () => {
    const run = await follow();
    await cluster.api.stopServer();
    await run.failure(/cannot (list|watch) .*: 127\.0\.0\.1:\d+: /);
    await run.until(['10.0.0.1:8000']);
    assert.equal(run.last, 'failure');
    await cluster.api.startServer();
    await change('10.0.0.4');
    await run.until(['10.0.0.4:8000'], 60_000);
    assert.equal(run.last, 'list');
  });

  test('an API server that comes back with an older state is believed', async () => {
    const run = await follow();
    const { api } = cluster;
    await api.stopServer();
    await api.stopEtcd();
    await api.saveState();
    await api.startEtcd();
    await api.startServer();
    for (let n = 1; n <= 20; n++) await change('10.0.0.1', `10.0.1.${n}`);
    await run.until(['10.0.0.1:8000', '10.0.1.20:8000'], 60_000);
    await api.stopServer();
    await api.stopEtcd();
    await api.restoreState();
    await api.startEtcd();
    await api.startServer();
    await run.until(['10.0.0.1:8000'], 60_000);
    await change('10.0.0.5');
    await run.until(['10.0.0.5:8000']);
  });
});
