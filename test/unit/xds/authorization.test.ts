import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import type { ReceivedResponse } from '../../support/discovery-response.ts';
import type { Issued } from '../../support/pki.ts';
import { snapshot } from '../../support/snapshots.ts';
import { TlsHarness } from '../../support/tls-harness.ts';
import type { XdsTestStream } from '../../support/xds-client.ts';

const { cluster: CDS, endpoint: EDS, listener: LDS, route: RDS } = TYPE_URLS;

let harness: TlsHarness;
let llama: Issued;
let both: Issued;
let admin: Issued;
let stranger: Issued;

before(async () => {
  harness = await TlsHarness.start({
    rules: [
      { identity: 'spiffe://test/ns/llama/*', serverGroups: ['llama', 'later'] },
      { identity: 'mistral.example', serverGroups: ['mistral'] },
      { identity: 'spiffe://test/admin', serverGroups: 'all' },
    ],
  });
  const { ca } = harness;
  llama = await ca.issue({ uri: ['spiffe://test/ns/llama/sa/one'] });
  both = await ca.issue({ uri: ['spiffe://test/ns/llama/sa/two'], dns: ['mistral.example'] });
  admin = await ca.issue({ uri: ['spiffe://test/admin'] });
  stranger = await ca.issue({ uri: ['spiffe://test/ns/other/sa/one'] });
});

after(() => harness.stop());

beforeEach(() => {
  const each = { llama: '1', mistral: '1' };
  harness.store.set(snapshot({ cluster: each, endpoint: each, listener: each, route: each }));
});

function open(issued: Issued, kind: 'ads' | 'eds', variant: 'sotw' | 'delta'): XdsTestStream {
  return harness.client(issued).open(kind, variant);
}

/** `name@version …`, with `-name` for what was removed. */
function content({ resources, removed }: ReceivedResponse): string {
  return [...resources.map(({ value }) => value.toString()), ...removed.map((name) => `-${name}`)].join(' ');
}

test('a client of no rule is refused, with PERMISSION_DENIED, on every kind of stream', async () => {
  for (const kind of ['ads', 'eds'] as const) {
    for (const variant of ['sotw', 'delta'] as const) {
      const stream = open(stranger, kind, variant);
      stream.send({ typeUrl: EDS, node: { id: 'stranger' } });
      const end = await stream.ended();
      assert.equal(end.code, status.PERMISSION_DENIED);
      assert.match(end.details, /no server group is open to spiffe:\/\/test\/ns\/other\/sa\/one/);
      assert.deepEqual(stream.responses, []);
    }
  }
  assert.ok(
    harness.log.some(({ msg, client }) => /refused/.test(String(msg)) && /other/.test(String(client))),
  );
});

test('a client of no rule is refused before it has said anything', async () => {
  for (const kind of ['ads', 'eds'] as const) {
    const end = await open(stranger, kind, 'delta').ended();
    assert.equal(end.code, status.PERMISSION_DENIED);
  }
});

test('a name in the node says nothing', async () => {
  const stream = open(stranger, 'ads', 'delta');
  stream.send({ typeUrl: CDS, node: { id: 'spiffe://test/admin', cluster: 'llama' } });
  assert.equal((await stream.ended()).code, status.PERMISSION_DENIED);
});

test('sotw: whoever asks for everything gets what it may see', async () => {
  for (const [issued, expected] of [
    [llama, 'llama@1'],
    [both, 'llama@1 mistral@1'],
    [admin, 'llama@1 mistral@1'],
  ] as const) {
    const stream = open(issued, 'ads', 'sotw');
    for (const typeUrl of [CDS, LDS]) {
      stream.send({ typeUrl });
      assert.equal(content(await stream.next()), expected);
    }
  }
});

test('sotw: a name that may not be seen is never answered', async () => {
  const stream = open(llama, 'ads', 'sotw');
  for (const typeUrl of [EDS, RDS]) {
    stream.send({ typeUrl, resourceNames: ['mistral'] });
    stream.send({ typeUrl, resourceNames: ['mistral', 'llama'] });
    const answer = await stream.next();
    assert.deepEqual([answer.typeUrl, content(answer)], [typeUrl, 'llama@1']);
  }
});

test('delta: a name that may not be seen is removed, as one that does not exist', async () => {
  const stream = open(llama, 'ads', 'delta');
  for (const typeUrl of [CDS, EDS, LDS, RDS]) {
    stream.send({ typeUrl, resourceNamesSubscribe: ['llama', 'mistral', 'nowhere'] });
    assert.equal(content(await stream.next()), 'llama@1 -mistral -nowhere');
  }
});

test('delta: everything is what it may see, and what it says to have besides is taken from it', async () => {
  const stream = open(llama, 'ads', 'delta');
  stream.send({ typeUrl: LDS, initialResourceVersions: { mistral: '1', llama: '1' } });
  assert.equal(content(await stream.next()), '-mistral');
  stream.send({ typeUrl: CDS, resourceNamesSubscribe: ['*'] });
  assert.equal(content(await stream.next()), 'llama@1');
});

test('a change of what may not be seen is not told', async () => {
  const stream = open(llama, 'ads', 'delta');
  stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['llama', 'mistral'] });
  stream.acknowledge(await stream.next());
  harness.store.set(snapshot({ endpoint: { llama: '1', mistral: '2' } }));
  harness.store.set(snapshot({ endpoint: { llama: '2', mistral: '3' } }));
  assert.equal(content(await stream.next()), 'llama@2');
});

test('a held name that may not be seen does not exist', async () => {
  harness.store.set(snapshot({ endpoint: {} }, ['later', 'mistral']));
  const stream = open(llama, 'eds', 'delta');
  stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['later', 'mistral'] });
  assert.equal(content(await stream.next()), '-mistral');
});

test('a group that comes later is seen by those who may', async () => {
  const [allowed, other] = [open(llama, 'eds', 'delta'), open(admin, 'eds', 'delta')];
  for (const stream of [allowed, other]) {
    stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['later', 'never'] });
    stream.acknowledge(await stream.next());
  }
  harness.store.set(snapshot({ endpoint: { later: '1', never: '1' } }));
  assert.equal(content(await allowed.next()), 'later@1');
  assert.equal(content(await other.next()), 'later@1 never@1');
});

test('streams of equal permissions get the same bytes', async () => {
  const twin = await harness.ca.issue({ uri: ['spiffe://test/ns/llama/sa/three'] });
  const streams = [open(llama, 'ads', 'sotw'), open(twin, 'ads', 'sotw')];
  for (const stream of streams) stream.send({ typeUrl: CDS });
  const [one, two] = await Promise.all(streams.map((stream) => stream.next()));
  assert.deepEqual(one?.bytes, two?.bytes);
});
