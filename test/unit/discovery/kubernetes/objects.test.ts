import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  foundInSlices,
  keepService,
  keepSlice,
  type KeptSlice,
} from '../../../../src/discovery/kubernetes/endpoint-slices.ts';
import { keepPool } from '../../../../src/discovery/kubernetes/inference-pool.ts';
import { foundInPods, keepPod } from '../../../../src/discovery/kubernetes/pods.ts';
import {
  pod,
  podStatus,
  slice,
  type EndpointWanted,
  type SliceWanted,
} from '../../../support/kube-objects.ts';

type Wanted = Omit<SliceWanted, 'name' | 'service'>;

function slices(...wanted: readonly Wanted[]): ReadonlyMap<string, KeptSlice> {
  return new Map(
    wanted.map((one, index) => [`s${index}`, keepSlice(slice({ name: `s${index}`, service: 'x', ...one }))]),
  );
}

describe('endpoints of slices', () => {
  const conditions: readonly (readonly [EndpointWanted['conditions'] | null, 'in' | 'draining' | 'out'])[] = [
    [{ ready: true, serving: true, terminating: false }, 'in'],
    [{ ready: false, serving: false, terminating: false }, 'out'],
    [{ ready: false, serving: true, terminating: false }, 'out'],
    [{ ready: false, serving: true, terminating: true }, 'draining'],
    [{ ready: false, serving: false, terminating: true }, 'out'],
    // publishNotReadyAddresses
    [{ ready: true, serving: false, terminating: false }, 'in'],
    [{ ready: true, serving: true, terminating: true }, 'draining'],
    [{ ready: true, serving: false, terminating: true }, 'out'],
    // what is missing
    [null, 'in'],
    [{}, 'in'],
    [{ ready: false }, 'out'],
    [{ terminating: true }, 'draining'],
    [{ ready: false, terminating: true }, 'out'],
  ];
  for (const [condition, expected] of conditions) {
    test(`${JSON.stringify(condition)} is ${expected}`, () => {
      const endpoint = { addresses: ['10.0.0.1'], ...(condition !== null && { conditions: condition }) };
      const kept = keepSlice({ addressType: 'IPv4', ports: [{ port: 1 }], endpoints: [endpoint] });
      const { found } = foundInSlices(new Map([['a', kept]]), [], undefined);
      assert.deepEqual(
        found.map(({ draining }) => draining),
        expected === 'out' ? [] : [expected === 'draining'],
      );
    });
  }

  test('an endpoint that moves between slices is there once, and drains when both say so', () => {
    const ends = { ready: false, terminating: true };
    const twice = slices(
      { endpoints: [{ address: '10.0.0.1', conditions: ends }] },
      { endpoints: [{ address: '10.0.0.1' }] },
    );
    const only = { address: '10.0.0.1', port: 8000, zone: undefined };
    for (const all of [twice, new Map([...twice].toReversed())]) {
      assert.deepEqual(foundInSlices(all, [], undefined).found, [{ ...only, draining: false }]);
    }
    const both = slices(...[1, 2].map(() => ({ endpoints: [{ address: '10.0.0.1', conditions: ends }] })));
    assert.deepEqual(foundInSlices(both, [], undefined).found, [{ ...only, draining: true }]);
  });

  const PORTS = {
    none: [],
    one: [{ name: '', port: 8000 }],
    two: [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
    ],
    all: [{ name: 'a' }],
    bad: [{ name: 'a', port: 70000 }],
    udp: [{ name: 'a', port: 1, protocol: 'UDP' }],
  } as const;
  for (const [ports, name, expected] of [
    ['none', undefined, 'EndpointSlice s0 has no TCP port'],
    ['none', 'a', 'EndpointSlice s0 has no TCP port a'],
    ['one', undefined, 8000],
    ['one', 'a', 'EndpointSlice s0 has no TCP port a; it has one without a name'],
    ['two', undefined, 'EndpointSlice s0 has several ports, a, b: say which with PortName'],
    ['two', 'b', 2],
    ['two', 'c', 'EndpointSlice s0 has no TCP port c; it has a, b'],
    ['all', undefined, 'EndpointSlice s0 names no port number: it stands for all ports'],
    ['bad', 'a', 'EndpointSlice s0 has a port that is not in 1..65535'],
    ['udp', undefined, 'EndpointSlice s0 has no TCP port'],
  ] as const) {
    test(`ports ${ports}, PortName ${name ?? 'none'}`, () => {
      const all = slices({ endpoints: [{ address: '10.0.0.1' }], ports: PORTS[ports] });
      const { found, leftOut } = foundInSlices(all, [], name);
      if (typeof expected === 'string') assert.deepEqual([found, leftOut], [[], [expected]]);
      else assert.deepEqual([found[0]?.port, leftOut], [expected, []]);
    });
  }

  test('a slice without an endpoint that takes requests need not have the port', () => {
    assert.deepEqual(foundInSlices(slices({ endpoints: [], ports: [] }), [], 'a').leftOut, [
      'the Service has no endpoints',
    ]);
  });

  test('slices of the same Service may have different ports for one name', () => {
    const all = slices(
      { endpoints: [{ address: '10.0.0.1' }], ports: [{ name: 'http', port: 1 }] },
      { endpoints: [{ address: '10.0.0.1' }, { address: '10.0.0.2' }], ports: [{ name: 'http', port: 2 }] },
    );
    assert.deepEqual(
      foundInSlices(all, [], 'http').found.map(({ address, port }) => `${address}:${port}`),
      ['10.0.0.1:1', '10.0.0.1:2', '10.0.0.2:2'],
    );
  });

  test('families: the first of the Service, else IPv4; what can be no backend is said', () => {
    const four = { endpoints: [{ address: '10.0.0.1' }], addressType: 'IPv4' } as const;
    const six = { endpoints: [{ address: '2001:DB8::1' }], addressType: 'IPv6' } as const;
    const name = { endpoints: [{ address: 'a.example' }], addressType: 'FQDN' } as const;
    const told = (families: readonly string[], ...all: readonly Wanted[]) => {
      const { found, leftOut } = foundInSlices(slices(...all), families, undefined);
      return [found.map(({ address }) => address), leftOut];
    };
    assert.deepEqual(told(['IPv6', 'IPv4'], four, six), [['2001:db8::1'], []]);
    assert.deepEqual(told(['IPv4', 'IPv6'], four, six), [['10.0.0.1'], []]);
    assert.deepEqual(told(['IPv4'], four, six), [
      ['10.0.0.1'],
      ['EndpointSlice s1 of IPv6: its Service is IPv4'],
    ]);
    assert.deepEqual(told(['IPv4', 'IPv6'], six), [
      [],
      ['the Service is IPv4 first, and has endpoints of IPv6 alone'],
    ]);
    assert.deepEqual(told([], six), [['2001:db8::1'], []]);
    assert.deepEqual(told([], six, four)[0], ['10.0.0.1']);
    const left = 'EndpointSlice s0 of FQDN: its endpoints are names, no IP addresses';
    assert.deepEqual(told([], name, four), [['10.0.0.1'], [left]]);
    assert.deepEqual(told([], name, six), [['2001:db8::1'], [left]]);
    assert.deepEqual(told([], name), [[], [left]]);
    assert.deepEqual(told(['IPv4'], name), [
      [],
      ['EndpointSlice s0 of FQDN: its endpoints are names, no IP addresses'],
    ]);
  });

  test('slices of a type that there is not hide none of the others', () => {
    const odd = keepSlice({ ports: [{ port: 1 }], endpoints: [{ addresses: ['10.0.0.9'] }] });
    const all = new Map([['odd', odd], ...slices({ endpoints: [{ address: '10.0.0.1' }] })]);
    assert.deepEqual(
      foundInSlices(all, [], undefined).found.map(({ address }) => address),
      ['10.0.0.1'],
    );
  });

  test('addresses that are none, and zones of any length', () => {
    const endpoints = [
      { address: '10.0.0.1', zone: 'z'.repeat(1000) },
      { address: '0.0.0.0' },
      { address: 'x\n' },
    ];
    const { found, leftOut } = foundInSlices(slices({ endpoints }), [], undefined);
    assert.equal(found[0]?.zone?.length, 256);
    assert.equal(leftOut.length, 2);
    assert.match(leftOut[0]!, /^endpoint 0\.0\.0\.0: no server can be reached/);
    assert.match(leftOut[1]!, /^endpoint x\\u\{a\}: /);
  });

  test('a list that is empty says why', () => {
    const out = { ready: false };
    const all = slices({ endpoints: [1, 2].map((n) => ({ address: `10.0.0.${n}`, conditions: out })) });
    assert.deepEqual(foundInSlices(all, [], undefined).leftOut, [
      'none of 2 endpoints of the Service is ready',
    ]);
  });
});

describe('pods', () => {
  const own = (changes: object = {}, annotations: Readonly<Record<string, string>> = {}) => ({
    ...pod({ name: 'a', labels: {}, annotations }),
    ...podStatus('10.0.0.1'),
    ...changes,
  });
  const found = (object: unknown, ports = [8000]) => foundInPods(new Map([['a', keepPod(object)]]), ports);

  test('only those that are ready count', () => {
    assert.equal(found(own()).found.length, 1);
    for (const changes of [
      podStatus('10.0.0.1', false),
      podStatus(''),
      { status: {} },
      { status: { ...(podStatus('10.0.0.1')['status'] as object), phase: 'Succeeded' } },
    ]) {
      assert.deepEqual(found(own(changes)), { found: [], leftOut: ['none of 1 pods that match is ready'] });
    }
    assert.deepEqual(foundInPods(new Map(), [1]).leftOut, ['no pod matches']);
  });

  for (const [annotations, metrics, words] of [
    [{ 'plimsoll.io/metrics-port': '1', 'plimsoll.io/metrics-path': '/' }, { port: 1, path: '/' }, 0],
    [{ 'plimsoll.io/metrics-path': '/a?b=c' }, { port: undefined, path: '/a?b=c' }, 0],
    [{ 'prometheus.io/port': '15020', 'prometheus.io/path': '/stats' }, undefined, 0],
    [{ 'plimsoll.io/metrics-port': '0' }, undefined, 1],
    [{ 'plimsoll.io/metrics-port': '8000 ' }, undefined, 1],
    [
      { 'plimsoll.io/metrics-port': '1e3', 'plimsoll.io/metrics-path': '/m' },
      { port: undefined, path: '/m' },
      1,
    ],
    [{ 'plimsoll.io/metrics-path': 'metrics' }, undefined, 1],
    [{ 'plimsoll.io/metrics-path': '/a b' }, undefined, 1],
    [{ 'plimsoll.io/metrics-path': '/\r\nhost: x' }, undefined, 1],
    [{ 'plimsoll.io/metrics-path': `/${'a'.repeat(2000)}` }, undefined, 1],
  ] as const) {
    test(`annotations ${JSON.stringify(annotations).slice(0, 80)}`, () => {
      const { found: list, leftOut } = found(own({}, annotations));
      assert.deepEqual(list[0]?.metrics, metrics);
      assert.equal(leftOut.length, words);
      assert.ok(leftOut.every((line) => line.length < 250));
    });
  }

  test('pods of one host network: one that stays goes before one that ends', () => {
    const ends = { metadata: { name: 'b', deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const pods = [keepPod(own(ends)), keepPod(own())] as const;
    for (const order of [pods, pods.toReversed()]) {
      const list = foundInPods(new Map(order.map((kept, index) => [String(index), kept])), [1]).found;
      assert.deepEqual(
        list.map(({ draining }) => draining),
        [false],
      );
    }
  });
});

test('an InferencePool without labels or ports selects nothing', () => {
  const good = { selector: { matchLabels: { 'example.com/app': 'a', b: '' } }, targetPorts: [{ number: 1 }] };
  assert.deepEqual(keepPool({ spec: good }), {
    kind: 'pool',
    labelSelector: 'b=,example.com/app=a',
    ports: [1],
  });
  for (const spec of [
    { ...good, selector: {} },
    { ...good, selector: { matchLabels: {} } },
    { ...good, selector: { matchLabels: 'abc' } },
    { ...good, selector: { matchLabels: { a: 'b,c' } } },
    { ...good, selector: { matchLabels: { 'a,b': 'c' } } },
    { ...good, selector: { matchLabels: { a: 1 } } },
    { ...good, targetPorts: [] },
    { ...good, targetPorts: [{ number: 0 }] },
    { ...good, targetPorts: [8000] },
    undefined,
  ]) {
    assert.equal(keepPool({ spec }).kind, 'bad', JSON.stringify(spec));
  }
});

test('any JSON is taken', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const object of [
        value,
        { spec: value, status: value, metadata: value, endpoints: value, ports: value },
      ]) {
        const objects = new Map([['a', keepSlice(object)]]);
        foundInSlices(objects, keepService(object).families, 'a');
        foundInPods(new Map([['a', keepPod(object)]]), [1]);
        keepPool(object);
      }
    }),
    { numRuns: 200 },
  );
});
