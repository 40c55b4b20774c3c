import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { KubeCluster } from '../support/kube-cluster.ts';
import { pod, podStatus, pool } from '../support/kube-objects.ts';

describe('pods and InferencePools, from a real API server', { timeout: 280_000 }, () => {
  let cluster: KubeCluster;
  const cleanups = new Cleanups();
  before(async () => {
    cluster = await cleanups.own(KubeCluster.start(), (started) => started.stop());
  });
  after(() => cleanups.run());
  afterEach(async () => {
    await cluster.endRuns();
  });
  const labels = (app: string): { readonly app: string } => ({ app });

  test('pods become ready, end, and go, with what they say of themselves', async () => {
    const own = {
      name: 'life-1',
      labels: { ...labels('life'), 'topology.kubernetes.io/zone': 'zone-b' },
      annotations: { 'plimsoll.io/metrics-port': '9400', 'plimsoll.io/metrics-path': '/own' },
      finalizers: ['example.com/stays'],
    };
    const garbage = {
      name: 'life-2',
      labels: labels('life'),
      annotations: { 'plimsoll.io/metrics-port': '99999', 'prometheus.io/port': '15020' },
    };
    await cluster.runPod(pod(own), podStatus('10.0.0.1', false));
    const run = await cluster.discover({ kind: 'Pods', selector: 'app in (life)', port: 8000 });
    await run.until([]);
    assert.deepEqual(run.leftOut, ['none of 1 pods that match is ready']);
    await cluster.api.admin.call('PATCH', `${cluster.core('pods', 'life-1')}/status`, podStatus('10.0.0.1'));
    await run.until(['10.0.0.1:8000']);
    assert.deepEqual(run.lists.at(-1), [
      {
        address: '10.0.0.1',
        port: 8000,
        zone: 'zone-b',
        draining: false,
        metrics: { port: 9400, path: '/own' },
      },
    ]);
    await cluster.runPod(pod(garbage), podStatus('10.0.0.2'));
    await run.until(['10.0.0.1:8000', '10.0.0.2:8000']);
    assert.deepEqual(run.leftOut, ['pod life-2: its plimsoll.io/metrics-port "99999" is no port 1..65535']);
    assert.equal(run.lists.at(-1)?.find(({ address }) => address === '10.0.0.2')?.metrics, undefined);

    await cluster.api.admin.call('DELETE', cluster.core('pods', 'life-1'));
    await run.until(['10.0.0.1:8000!', '10.0.0.2:8000']);
    await cluster.api.admin.call('PATCH', cluster.core('pods', 'life-1'), { metadata: { finalizers: [] } });
    await run.until(['10.0.0.2:8000']);
    assert.deepEqual(run.failures, []);
  });

  test('250 pods come in three pages, all at once', async () => {
    const count = 250;
    for (let from = 0; from < count; from += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          cluster.runPod(
            pod({ name: `page-${from + n}`, labels: labels('page') }),
            podStatus(`10.2.${Math.trunc((from + n) / 100)}.${((from + n) % 100) + 1}`),
          ),
        ),
      );
    }
    const run = await cluster.discover({ kind: 'Pods', selector: 'app=page', port: 8000 });
    const first = Array.from(
      { length: count },
      (_, n) => `10.2.${Math.trunc(n / 100)}.${(n % 100) + 1}:8000`,
    );
    await run.until(first);
    assert.equal(run.lists.length, 1);
  });

  test('a selector that is none is said with the words of the API server', async () => {
    const run = await cluster.discover({ kind: 'Pods', selector: 'app in life', port: 8000 });
    assert.match(
      await run.failure(/400/),
      /cannot list pods in namespace prod: the API server answers 400: .*parse/,
    );
  });

  test('an InferencePool: its API missing, then itself, then its pods at each port, as it changes', async () => {
    for (const [app, ip] of [
      ['red', '10.3.0.1'],
      ['blue', '10.3.0.2'],
    ] as const) {
      await cluster.runPod(pod({ name: app, labels: labels(app) }), podStatus(ip));
    }
    const early = await cluster.discover({ kind: 'InferencePool', name: 'ranks' });
    assert.match(await early.failure(/404/), /does not serve inference\.networking\.k8s\.io\/v1.*install/);
    await early.stop();

    await cluster.installPools();
    const run = await cluster.discover({ kind: 'InferencePool', name: 'ranks' });
    await run.failure(/^there is no InferencePool ranks in namespace prod$/);
    assert.equal(run.lists.length, 0);
    await cluster.api.admin.call('POST', cluster.pools(), pool('ranks', 'red', [8000, 8001]));
    await run.until(['10.3.0.1:8000', '10.3.0.1:8001']);
    assert.equal(run.last, 'list');
    const patch = (spec: unknown) => cluster.api.admin.call('PATCH', cluster.pools('ranks'), { spec });
    await patch({ targetPorts: [{ number: 8001 }, { number: 8002 }] });
    await run.until(['10.3.0.1:8001', '10.3.0.1:8002']);
    await patch({ selector: { matchLabels: { app: 'blue' } } });
    await run.until(['10.3.0.2:8001', '10.3.0.2:8002']);
    assert.ok(!run.lists.slice(1).some((list) => list.length === 0), 'an empty list between two selectors');
    await cluster.api.admin.call('DELETE', cluster.pools('ranks'));
    await cluster.runPod(pod({ name: 'more', labels: labels('blue') }), podStatus('10.3.0.3'));
    await run.until(['10.3.0.2:8001', '10.3.0.2:8002', '10.3.0.3:8001', '10.3.0.3:8002']);
    assert.match(
      run.leftOut.join(),
      /there is no InferencePool ranks in namespace prod; what it selected last/,
    );
  });
});
