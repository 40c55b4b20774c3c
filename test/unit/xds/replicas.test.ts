/** Two control planes with the same state are one to a sidecar. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Endpoint } from '../../../src/core/model/assignment.ts';
import { Publisher } from '../../../src/publish/publisher.ts';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { encoder, listenerEncoders } from '../../../src/xds/encoder.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { XdsServer } from '../../../src/xds/server.ts';
import { XDS_SERVICES } from '../../../src/xds/services.ts';
import { listener, serverGroup } from '../../support/configuration.ts';
import type { ReceivedResponse } from '../../support/discovery-response.ts';
import { XdsClient, type XdsTestStream } from '../../support/xds-client.ts';
import { xdsObserver } from '../../support/xds-observer.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

/** What a sidecar asks for, in its order. */
const ASKED = [
  [TYPE_URLS.cluster, []],
  [TYPE_URLS.endpoint, ['llama', 'mistral']],
  [TYPE_URLS.listener, []],
  [TYPE_URLS.route, ['of llama', 'of mistral']],
] as const;

interface Replica {
  readonly server: XdsServer;
  readonly client: XdsClient;
  readonly publish: (weight: number) => void;
}

let replicas: readonly [Replica, Replica];

/** @param history what else it has published before; other replicas have not. */
async function replica(history: readonly number[]): Promise<Replica> {
  const store = new SnapshotStore();
  const publisher = new Publisher(encoder, [{ store, listener: listenerEncoders.aggregated }]);
  const names = ['llama', 'mistral'];
  publisher.configure(
    names.map((name) => serverGroup(name)),
    names.map((name, i) => listener(name, { name: `of ${name}`, port: 10_000 + i })),
    0,
  );
  const publish = (weight: number): void => {
    const endpoint: Endpoint = { address: '10.0.3.11', port: 8000, weight, health: 'HEALTHY' };
    for (const name of names) publisher.publish({ serverGroup: name, endpoints: [endpoint], dropShare: 0 });
  };
  for (const weight of history) publish(weight);
  const server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings: xdsSettings(),
    clock: systemClock,
    log: silentLogger,
    observer: xdsObserver(),
  });
  const client = new XdsClient(await server.listen({ host: '127.0.0.1', port: 0 }));
  // nonces have come further on the one than on the other
  for (const _ of history) {
    const stream = client.open('ads', 'sotw');
    stream.send({ typeUrl: TYPE_URLS.cluster });
    await stream.next();
    stream.cancel();
  }
  publish(100);
  return { server, client, publish };
}

beforeEach(async () => {
  replicas = [await replica([]), await replica([7, 9])];
});

afterEach(async () => {
  for (const { client, server } of replicas) {
    client.close();
    await server.stop();
  }
});

/** Asks for everything, one type after the other, and acknowledges. */
async function askFor(
  stream: XdsTestStream,
  variant: 'sotw' | 'delta',
  versionsOf: (typeUrl: string) => Readonly<Record<string, string>>,
): Promise<readonly ReceivedResponse[]> {
  const responses: ReceivedResponse[] = [];
  for (const [typeUrl, names] of ASKED) {
    if (variant === 'sotw') stream.send({ typeUrl, resourceNames: names });
    else {
      const initialResourceVersions = versionsOf(typeUrl);
      stream.send({ typeUrl, resourceNamesSubscribe: names, initialResourceVersions });
    }
    const response = await stream.next();
    assert.equal(response.typeUrl, typeUrl);
    stream.acknowledge(response, names);
    responses.push(response);
  }
  return responses;
}

/** All of a response but its nonce. */
function content({ version, typeUrl, resources, removed }: ReceivedResponse) {
  return { version, typeUrl, resources, removed };
}

for (const variant of ['sotw', 'delta'] as const) {
  test(`${variant}: the same state has the same versions and bytes`, async () => {
    const [one, other] = await Promise.all(
      replicas.map(({ client }) => askFor(client.open('ads', variant), variant, () => ({}))),
    );
    assert.deepEqual(one?.map(content), other?.map(content));
    assert.deepEqual(
      one?.map(({ resources }) => resources.length),
      [2, 2, 2, 2],
    );
  });
}

test('delta: a sidecar that comes from the one gets nothing from the other until something changes', async () => {
  const [first, second] = replicas;
  const before = first.client.open('ads', 'delta');
  const responses = await askFor(before, 'delta', () => ({}));
  before.cancel();
  const has = new Map(
    responses.map(({ typeUrl, resources }) => [
      typeUrl,
      Object.fromEntries(resources.map(({ name, version }) => [name, version])),
    ]),
  );
  const stream = second.client.open('ads', 'delta');
  const answers = await askFor(stream, 'delta', (typeUrl) => has.get(typeUrl) ?? {});
  for (const { resources, removed } of answers) assert.deepEqual([resources, removed], [[], []]);
  second.publish(50);
  const change = await stream.next();
  assert.equal(change.typeUrl, TYPE_URLS.endpoint);
});

test('sotw: a sidecar that comes from the one finds every version as it was', async () => {
  const [first, second] = replicas;
  const responses = await askFor(first.client.open('ads', 'sotw'), 'sotw', () => ({}));
  const again = await askFor(second.client.open('ads', 'sotw'), 'sotw', () => ({}));
  assert.deepEqual(
    again.map(({ version }) => version),
    responses.map(({ version }) => version),
  );
});
