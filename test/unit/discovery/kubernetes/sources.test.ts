import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { KubernetesTarget } from '../../../../src/core/model/discovery.ts';
import { KubernetesDiscoverer } from '../../../../src/discovery/kubernetes.ts';
import { DiscoveryRun } from '../../../support/discovery-run.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  openWatch,
  play,
  RecordedApi,
  recorded,
  recordedEvents,
  reply,
} from '../../../support/recorded-api.ts';
import { waitFor } from '../../../support/wait-for.ts';

const SERVICE = { kind: 'Service', service: 'llama', portName: undefined } as const;
const POOL = { kind: 'InferencePool', name: 'llama' } as const;
const PODS = { kind: 'Pods', selector: 'app=llama', port: 8000 } as const;

describe('backends in a cluster, from what a real API server answered', () => {
  let folder: string;
  let api: RecordedApi;
  let clock: FakeClock;
  let run: DiscoveryRun;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubernetes-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    api = await RecordedApi.start();
    clock = new FakeClock();
    for (const plural of ['services', 'endpointslices', 'pods', 'inferencepools'])
      api.on(`watch ${plural}`, openWatch);
  });
  afterEach(async () => {
    await run.stop();
    assert.equal(clock.pending, 0, 'timers that are left');
    await api.stop();
  });

  function discover(target: KubernetesTarget): void {
    const kubeconfigFile = join(folder, 'kubeconfig');
    writeFileSync(
      kubeconfigFile,
      JSON.stringify({
        'current-context': 'x',
        contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
        clusters: [{ name: 'x', cluster: { server: api.url } }],
        users: [{ name: 'x', user: {} }],
      }),
    );
    const settings = { kind: 'Kubernetes', namespace: 'prod', target, kubeconfigFile } as const;
    run = new DiscoveryRun(new KubernetesDiscoverer({ settings, clock, random: () => 0 }));
  }

  function until(what: string, probe: () => boolean): Promise<boolean> {
    return waitFor(what, async () => {
      if (probe()) return true;
      await clock.advance(100);
      return probe();
    });
  }

  const backends = (...expected: readonly string[]) =>
    until(expected.join(), () => run.lists.length > 0 && run.backends.join() === expected.toSorted().join());
  const watched = (plural: string) => until(`a watch of ${plural}`, () => api.isWatched(plural));

  test('a Service and its slices', async () => {
    api.on('list services', play('services list'));
    api.on('list endpointslices', play('slices list'));
    discover(SERVICE);
    await backends('10.0.0.1:8000', '10.0.0.2:8000');
    assert.deepEqual(
      run.lists.at(-1)?.map(({ zone }) => zone),
      ['zone-a', 'zone-b'],
    );
    await watched('endpointslices');
    assert.deepEqual(run.lists.length, 1, 'told once both are there');
    api.send('endpointslices', ...recordedEvents('slices watch'));
    await backends('10.0.0.1:8000!', '10.0.0.3:8000');
    assert.deepEqual(run.failures, []);
    const slices = api.requests.find(({ plural }) => plural === 'endpointslices');
    assert.equal(slices?.query.get('labelSelector'), 'kubernetes.io/service-name=llama');
    const services = api.requests.find(({ plural }) => plural === 'services');
    assert.equal(services?.query.get('fieldSelector'), 'metadata.name=llama');
  });

  test('nothing is told while the Service, or its slices, are not known', async () => {
    api.on('list services', play('services list'));
    discover(SERVICE);
    await watched('services');
    await clock.advance(5_000);
    assert.equal(run.last, 'nothing');
  });

  test('a Service that is not there is a failure, until it comes', async () => {
    api.on('list services', play('services list: empty'));
    const none = { kind: 'List', metadata: { resourceVersion: '196' }, items: [] };
    api.on('list endpointslices', reply(200, JSON.stringify(none)));
    discover(SERVICE);
    await until('a failure', () => run.last === 'failure');
    assert.deepEqual(new Set(run.failures), new Set(['there is no Service llama in namespace prod']));
    assert.equal(run.lists.length, 0);
    await watched('endpointslices');
    await watched('services');
    const { items } = bodyOf('services list');
    api.send('services', { type: 'ADDED', object: items[0] });
    await until('an empty list', () => run.last === 'list');
    assert.deepEqual(run.leftOut, ['the Service has no endpoints']);
    api.send('endpointslices', recordedEvents('slices watch')[0]);
    await backends('10.0.0.4:8000');
    api.send('services', { type: 'DELETED', object: items[0] });
    await until('a word', () => run.leftOut.length > 0);
    assert.deepEqual(run.leftOut, ['there is no Service llama in namespace prod']);
    assert.deepEqual(run.backends, ['10.0.0.4:8000']);
  });

  test('one part that fails is a failure, whatever the other one tells', async () => {
    api.on('list services', play('services list'));
    api.on('list endpointslices', play('slices list'));
    discover(SERVICE);
    await backends('10.0.0.1:8000', '10.0.0.2:8000');
    await watched('services');
    await watched('endpointslices');
    await clock.advance(10_000);
    api.on('list services', reply(403, JSON.stringify(recorded('slices list: forbidden'))));
    api.end('services');
    await until('a failure', () => run.last === 'failure');
    api.send('endpointslices', ...recordedEvents('slices watch'));
    await backends('10.0.0.1:8000!', '10.0.0.3:8000');
    assert.equal(run.last, 'failure');
    api.on('list services', play('services list'));
    await until('all is well', () => run.last === 'list');
  });

  test('pods in pages, and what happens to them', async () => {
    api.on('list pods', play('pods list: page 1'), play('pods list: page 2'));
    discover(PODS);
    await backends('10.0.1.1:8000', '10.0.1.2:8000');
    await watched('pods');
    const [annotated, unready, ending] = recordedEvents('pods watch');
    api.send('pods', annotated);
    await until('the annotation', () => run.lists.length === 2);
    assert.deepEqual(
      run.lists.at(-1)?.map(({ metrics }) => metrics),
      [{ port: 9400, path: undefined }, undefined],
    );
    assert.deepEqual(run.leftOut, [
      'pod llama-0: its plimsoll.io/metrics-path "metrics" is no path: one starts with / and has visible ASCII characters',
    ]);
    api.send('pods', unready);
    await backends('10.0.1.1:8000');
    api.send('pods', ending);
    await backends('10.0.1.1:8000!');
    assert.equal(run.lists.length, 4);
  });

  test('an InferencePool: one backend for each pod and port, as it changes', async () => {
    api.on('list inferencepools', play('pools list'));
    api.on('list pods', play('pods list: page 2'));
    discover(POOL);
    await backends('10.0.1.2:8000', '10.0.1.2:8001');
    assert.equal(
      api.requests.find(({ plural }) => plural === 'pods')?.query.get('labelSelector'),
      'app=llama',
    );
    await watched('inferencepools');
    await watched('pods');
    const pool = bodyOf('pools list').items[0]!;
    const change = (spec: unknown): void => {
      const metadata = { ...pool.metadata, resourceVersion: '999' };
      api.send('inferencepools', { type: 'MODIFIED', object: { ...pool, metadata, spec } });
    };
    const asked = api.asked('pods').length;
    change({ ...pool.spec, targetPorts: [{ number: 9000 }] });
    await backends('10.0.1.2:9000');
    assert.equal(api.asked('pods').length, asked, 'other ports need no other pods');

    api.on('list pods', reply(500, '{}'), play('pods list: page 1'), play('pods list: page 2'));
    change({ targetPorts: [{ number: 9000 }], selector: { matchLabels: { b: 'c', a: '' } } });
    await until('a failure', () => run.last === 'failure');
    assert.deepEqual(run.backends, ['10.0.1.2:9000'], 'the last list stands');
    await backends('10.0.1.1:9000', '10.0.1.2:9000');
    assert.equal(
      api.requests.findLast(({ plural }) => plural === 'pods')?.query.get('labelSelector'),
      'a=,b=c',
    );

    change({ targetPorts: [{ number: 9000 }], selector: { matchLabels: {} } });
    await until('a word', () => run.leftOut.length > 0);
    assert.match(
      run.leftOut[0]!,
      /^InferencePool llama has no selector\.matchLabels that can be used; what it/,
    );
    api.send('inferencepools', { type: 'DELETED', object: pool });
    await until('a word', () => run.leftOut[0]?.startsWith('there is no InferencePool') ?? false);
    assert.deepEqual(run.backends, ['10.0.1.1:9000', '10.0.1.2:9000']);
  });

  test('a pool that is not there, or whose API is not, is a failure', async () => {
    api.on('list inferencepools', play('pools list: no such API'), play('pools list: empty'));
    discover(POOL);
    await until('failures', () => run.failures.length === 2);
    assert.deepEqual(run.failures, [
      'cannot list inferencepools.inference.networking.k8s.io in namespace prod: the API server does not serve inference.networking.k8s.io/v1 (404); install the CustomResourceDefinitions of the Gateway API inference extension, v1.0 or newer',
      'there is no InferencePool llama in namespace prod',
    ]);
    assert.equal(run.lists.length, 0);
  });

  test('what the API server refuses is said with what to do about it', async () => {
    api.on('list endpointslices', play('slices list: forbidden'), play('slices list: unauthorized'));
    api.on('list services', play('services list'));
    discover(SERVICE);
    await until('reasons', () => run.failures.length === 2);
    assert.deepEqual(run.failures, [
      'may not list endpointslices.discovery.k8s.io in namespace prod (403): a Role in namespace prod must grant apiGroups ["discovery.k8s.io"], resources [endpointslices], verbs [list, watch] to system:serviceaccount:default:plimsoll',
      "cannot list endpointslices.discovery.k8s.io in namespace prod: the API server does not accept the credentials (401): the token or certificate has expired, or is another cluster's",
    ]);
    await run.stop();
    api.on('list pods', play('pods list: bad selector'));
    discover(PODS);
    await until('a reason', () => run.failures.length === 1);
    assert.match(
      run.failures[0]!,
      /: the API server answers 400: unable to parse requirement: found 'llama'/,
    );
  });
});

interface Listed {
  readonly items: readonly { readonly metadata: object; readonly spec: object }[];
}

function bodyOf(name: string): Listed {
  const found = recorded(name);
  return ('body' in found ? found.body : {}) as Listed;
}
