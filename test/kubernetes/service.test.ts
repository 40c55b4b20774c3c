import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { KubeCluster } from '../support/kube-cluster.ts';
import { service, slice } from '../support/kube-objects.ts';

describe('EndpointSlices of a Service, from a real API server', { timeout: 280_000 }, () => {
  let cluster: KubeCluster;
  const cleanups = new Cleanups();
  before(async () => {
    cluster = await cleanups.own(KubeCluster.start(), (started) => started.stop());
  });
  after(() => cleanups.run());
  afterEach(async () => {
    await cluster.endRuns();
  });
  const create = (path: string, object: unknown) => cluster.api.admin.call('POST', path, object);
  const put = (path: string, object: unknown) => cluster.api.admin.call('PUT', path, object);

  test('endpoints come, end, and go', async () => {
    await create(cluster.core('services'), service('life'));
    await create(cluster.slices(), slice({ name: 'life-1', service: 'life', endpoints: [] }));
    const run = await cluster.discover({ kind: 'Service', service: 'life', portName: undefined });
    await run.until([]);
    assert.equal(run.last, 'list');
    assert.deepEqual(run.leftOut, ['the Service has no endpoints']);

    const [first, second] = ['10.0.0.1', '10.0.0.2'] as const;
    const write = (endpoints: Parameters<typeof slice>[0]['endpoints']) =>
      put(cluster.slices('life-1'), slice({ name: 'life-1', service: 'life', endpoints }));
    await write([
      { address: first, zone: 'a' },
      { address: second, conditions: { ready: false, serving: false } },
    ]);
    await run.until(['10.0.0.1:8000']);
    assert.equal(run.lists.at(-1)?.[0]?.zone, 'a');
    await write([{ address: first }, { address: second }]);
    await run.until(['10.0.0.1:8000', '10.0.0.2:8000']);
    await write([{ address: first, conditions: { ready: false, terminating: true } }, { address: second }]);
    await run.until(['10.0.0.1:8000!', '10.0.0.2:8000']);
    const ends = { ready: false, serving: false, terminating: true };
    await write([{ address: first, conditions: ends }, { address: second }]);
    await run.until(['10.0.0.2:8000']);

    await create(
      cluster.slices(),
      slice({ name: 'life-2', service: 'life', endpoints: [{ address: second }, { address: '10.0.0.3' }] }),
    );
    await run.until(['10.0.0.2:8000', '10.0.0.3:8000']);
    await cluster.api.admin.call('DELETE', cluster.slices('life-1'));
    await cluster.api.admin.call('DELETE', cluster.slices('life-2'));
    await run.until([]);
    assert.deepEqual(run.failures, []);
  });

  test('a Service that is not there fails, until it is', async () => {
    const run = await cluster.discover({ kind: 'Service', service: 'late', portName: undefined });
    assert.equal(await run.failure(/./), 'there is no Service late in namespace prod');
    assert.equal(run.lists.length, 0);
    await create(cluster.core('services'), service('late'));
    await create(
      cluster.slices(),
      slice({ name: 'late-1', service: 'late', endpoints: [{ address: '10.0.1.1' }] }),
    );
    await run.until(['10.0.1.1:8000']);
    await cluster.api.admin.call('DELETE', cluster.core('services', 'late'));
    await cluster.api.admin.call('DELETE', cluster.slices('late-1'));
    await run.until([]);
    assert.match(run.leftOut[0] ?? '', /^there is no Service late/);
  });

  test('named ports', async () => {
    const ports = [
      { name: 'http', port: 8000 },
      { name: 'grpc', port: 9000 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ];
    await create(cluster.core('services'), service('ports'));
    await create(
      cluster.slices(),
      slice({ name: 'ports-1', service: 'ports', endpoints: [{ address: '10.0.2.1' }], ports }),
    );
    const named = await cluster.discover({ kind: 'Service', service: 'ports', portName: 'grpc' });
    await named.until(['10.0.2.1:9000']);
    const unnamed = await cluster.discover({ kind: 'Service', service: 'ports', portName: undefined });
    await unnamed.until([]);
    assert.match(unnamed.leftOut.join(), /ports-1 has several ports, http, grpc: say which with PortName/);
    const wrong = await cluster.discover({ kind: 'Service', service: 'ports', portName: 'metrics' });
    await wrong.until([]);
    assert.match(wrong.leftOut.join(), /ports-1 has no TCP port metrics; it has http, grpc/);
  });

  test('of two families the first one of the Service counts', async () => {
    for (const [name, families] of [
      ['six', ['IPv6', 'IPv4']],
      ['four', ['IPv4', 'IPv6']],
    ] as const) {
      await create(
        cluster.core('services'),
        service(name, { ipFamilyPolicy: 'RequireDualStack', ipFamilies: families }),
      );
      const endpoints = { IPv4: [{ address: '10.0.3.1' }], IPv6: [{ address: '2001:db8::31' }] };
      for (const addressType of ['IPv4', 'IPv6'] as const) {
        const wanted = { name: `${name}-${addressType.toLowerCase()}`, service: name, addressType };
        await create(cluster.slices(), slice({ ...wanted, endpoints: endpoints[addressType] }));
      }
    }
    const six = await cluster.discover({ kind: 'Service', service: 'six', portName: undefined });
    await six.until(['2001:db8::31:8000']);
    const four = await cluster.discover({ kind: 'Service', service: 'four', portName: 'http' });
    await four.until(['10.0.3.1:8000']);
    assert.deepEqual([six.leftOut, four.leftOut], [[], []]);
  });

  test('1,000 endpoints in 10 slices that change all the time end where they should', async () => {
    const address = (index: number, round: number): string => `10.1.${index}.${round + 1}`;
    const write = (index: number, round: number) => {
      const endpoints = Array.from({ length: 100 }, (_, endpoint) => ({
        address: address(index, (round + endpoint) % 250),
        conditions: { ready: (round + endpoint) % 10 !== 0 },
      }));
      return slice({ name: `many-${index}`, service: 'many', endpoints });
    };
    await create(cluster.core('services'), service('many'));
    for (let index = 0; index < 10; index++) await create(cluster.slices(), write(index, 0));
    const run = await cluster.discover({ kind: 'Service', service: 'many', portName: undefined });
    await run.until(expected(0));
    for (let round = 1; round <= 20; round++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => put(cluster.slices(`many-${index}`), write(index, round))),
      );
    }
    await run.until(expected(20));
    assert.deepEqual(run.failures, []);
    assert.ok(run.lists.length < 150, `${run.lists.length} lists for 200 changes`);

    function expected(round: number): readonly string[] {
      return Array.from({ length: 1000 }, (_, n) => n)
        .filter((n) => (round + (n % 100)) % 10 !== 0)
        .map((n) => `${address(Math.trunc(n / 100), (round + (n % 100)) % 250)}:8000`);
    }
  });
});
