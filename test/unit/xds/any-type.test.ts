/** The stream layer without Plimsoll's resources: types that it has never heard of, for groups of nodes. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { type Resource, type Snapshot, SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { XdsServer } from '../../../src/xds/server.ts';
import type { XdsService } from '../../../src/xds/service.ts';
import { XdsClient } from '../../support/xds-client.ts';
import { Conversation, contentOf } from '../../support/xds-conversation.ts';
import { xdsObserver } from '../../support/xds-observer.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const NAMED = 'type.googleapis.com/example.Named';
const SET = 'type.googleapis.com/example.Set';
const VARIANTS = ['sotw', 'delta'] as const;

const SERVICES: readonly XdsService[] = [
  {
    kind: 'ads',
    name: 'envoy.service.discovery.v3.AggregatedDiscoveryService',
    methods: { sotw: 'StreamAggregatedResources', delta: 'DeltaAggregatedResources' },
    types: [
      { url: NAMED, complete: false, parent: undefined },
      { url: SET, complete: true, parent: undefined },
    ],
  },
];

/** A message whose one field is its name. */
function named(typeUrl: string, name: string, version: string): Resource {
  const bytes = Buffer.concat([Buffer.from([10, name.length]), Buffer.from(name)]);
  return { typeUrl, name, version, serverGroup: '', bytes };
}

function snapshotOf(typeUrl: string, versions: Readonly<Record<string, string>>): Snapshot {
  const resources = Object.entries(versions).map(([name, version]) => named(typeUrl, name, version));
  const byName = new Map(resources.map((resource) => [resource.name, resource]));
  return { resources: new Map([[typeUrl, byName]]), held: new Map(), assignments: new Map() };
}

const groups = { red: new SnapshotStore(), blue: new SnapshotStore() };
let server: XdsServer;
let client: XdsClient;

beforeEach(async () => {
  server = new XdsServer({
    services: SERVICES,
    sourceOf: ({ cluster }) => (cluster === 'red' ? groups.red : groups.blue),
    settings: xdsSettings(),
    clock: systemClock,
    log: silentLogger,
    observer: xdsObserver(),
  });
  client = new XdsClient(await server.listen({ host: '127.0.0.1', port: 0 }));
});

afterEach(async () => {
  client.close();
  await server.stop();
});

for (const variant of VARIANTS) {
  test(`${variant}: resources that hold nothing but a name change by their version`, async () => {
    groups.red.set(snapshotOf(NAMED, { a: '1', b: '1' }));
    const talk = new Conversation(client, { kind: 'ads', variant, typeUrl: NAMED });
    talk.ask(['a', 'b'], { node: { cluster: 'red' } });
    assert.equal(await talk.take(), '\n\u0001a \n\u0001b');
    groups.red.set(snapshotOf(NAMED, { a: '1', b: '2' }));
    assert.equal(await talk.take(), '\n\u0001b');
  });

  test(`${variant}: groups of nodes are served apart`, async () => {
    groups.red.set(snapshotOf(SET, { r: '1' }));
    groups.blue.set(snapshotOf(SET, { b: '1' }));
    const [red, blue] = (['red', 'blue'] as const).map((cluster) => {
      const talk = new Conversation(client, { kind: 'ads', variant, typeUrl: SET });
      talk.ask([], { node: { cluster } });
      return talk;
    }) as [Conversation, Conversation];
    assert.equal(await red.take(), '\n\u0001r');
    assert.equal(await blue.take(), '\n\u0001b');
    groups.red.set(snapshotOf(SET, { r: '2' }));
    assert.equal(await red.take(), '\n\u0001r');
    groups.blue.set(snapshotOf(SET, { b: '2' }));
    assert.equal(await blue.take(), '\n\u0001b');
    assert.deepEqual([...red.stream.left, ...blue.stream.left].map(contentOf), []);
  });
}

test('a service that is not handed in is not there', async () => {
  const stream = client.open('eds', 'delta');
  stream.send({ typeUrl: NAMED });
  assert.equal((await stream.ended()).code, status.UNIMPLEMENTED);
});
