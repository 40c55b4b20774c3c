/** A sidecar that comes from a control plane with other groups, such as this one before a restart. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Publisher } from '../../../src/publish/publisher.ts';
import { ROLLOUT_TIMES } from '../../../src/publish/rollout.ts';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { encoder, listenerEncoders } from '../../../src/xds/encoder.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { CLUSTER_TYPE, ROUTE_TYPE } from '../../../src/xds/served-types.ts';
import { XdsServer } from '../../../src/xds/server.ts';
import { XDS_SERVICES } from '../../../src/xds/services.ts';
import { listener, serverGroup } from '../../support/configuration.ts';
import type { ReceivedResponse } from '../../support/discovery-response.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { XdsClient, type XdsTestStream } from '../../support/xds-client.ts';
import { xdsObserver } from '../../support/xds-observer.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const { cluster: CDS, endpoint: EDS, listener: LDS, route: RDS } = TYPE_URLS;
const { followMs, retireMs } = ROLLOUT_TIMES;
/** Streams are looked after that often, at the least. */
const SWEEP_MS = 5_000;
type Versions = Readonly<Record<string, string>>;

/** A control plane with one group, which the listener `inference` goes to. */
async function plane(t: TestContext, group: string) {
  const clock = new FakeClock();
  const store = new SnapshotStore();
  const publisher = new Publisher(encoder, [{ store, listener: listenerEncoders.aggregated }]);
  publisher.configure([serverGroup(group)], [listener(group)], 0);
  publisher.advance(0);
  const server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings: xdsSettings({ ackSeconds: 3600 }),
    clock,
    log: silentLogger,
    observer: xdsObserver(),
  });
  const client = new XdsClient(await server.listen({ host: '127.0.0.1', port: 0 }));
  t.after(async () => {
    client.close();
    await server.stop();
  });
  const publish = (): void => {
    const endpoint = { address: '10.0.3.11', port: 8000, weight: 100, health: 'HEALTHY' } as const;
    publisher.publish({ serverGroup: group, endpoints: [endpoint], dropShare: 0 });
  };
  return { clock, publish, open: () => client.open('ads', 'delta') };
}

/** `kind name …`, with `-name` for what was removed. */
function told({ typeUrl, resources, removed }: ReceivedResponse): string {
  const kind = Object.entries(TYPE_URLS).find(([, url]) => url === typeUrl)?.[0];
  return [kind, ...resources.map(({ name }) => name), ...removed.map((name) => `-${name}`)].join(' ');
}

async function take(stream: XdsTestStream): Promise<string> {
  const response = await stream.next();
  stream.acknowledge(response);
  return told(response);
}

async function ask(
  stream: XdsTestStream,
  typeUrl: string,
  resourceNamesSubscribe: readonly string[],
  initialResourceVersions: Versions = {},
): Promise<string> {
  stream.send({ typeUrl, resourceNamesSubscribe, initialResourceVersions });
  return take(stream);
}

/** Nothing has come but what was taken: a round trip on the same stream says when to look. */
async function quiet(stream: XdsTestStream): Promise<void> {
  stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['nobody'] });
  assert.equal(await take(stream), 'endpoint -nobody');
}

/** What a sidecar of the control plane with this group has, by type. */
async function versionsOf(t: TestContext, group: string): Promise<(typeUrl: string) => Versions> {
  const { open, publish } = await plane(t, group);
  publish();
  const stream = open();
  for (const [typeUrl, names] of [
    [CDS, []],
    [LDS, []],
    [RDS, ['inference']],
  ] as const)
    await ask(stream, typeUrl, names);
  return (typeUrl) => {
    const { resources } = stream.responses.find((one) => one.typeUrl === typeUrl) as ReceivedResponse;
    return Object.fromEntries(resources.map(({ name, version }) => [name, version]));
  };
}

test('they stay as long as after a reload', () => {
  assert.deepEqual([ROUTE_TYPE.keepMs, CLUSTER_TYPE.keepMs], [followMs, retireMs]);
});

test('its group has another name here: new cluster, then the route, and the old cluster ends when nobody uses it', async (t) => {
  const had = await versionsOf(t, 'old');
  const { clock, publish, open } = await plane(t, 'new');
  publish();
  const stream = open();
  assert.equal(await ask(stream, CDS, [], had(CDS)), 'cluster new');
  assert.equal(await ask(stream, LDS, [], had(LDS)), 'listener');
  assert.equal(await ask(stream, RDS, ['inference'], had(RDS)), 'route', 'nothing yet');
  assert.equal(await ask(stream, EDS, ['new']), 'endpoint new');
  await clock.advance(followMs - 1);
  await quiet(stream);
  await clock.advance(SWEEP_MS);
  assert.equal(await take(stream), 'route inference');
  await clock.advance(retireMs - SWEEP_MS);
  await quiet(stream);
  await clock.advance(2 * SWEEP_MS);
  assert.equal(await take(stream), 'cluster -old');
});

test('as long as the new group has no assignment its route and its cluster stay', async (t) => {
  const had = await versionsOf(t, 'old');
  const { clock, publish, open } = await plane(t, 'new');
  const stream = open();
  assert.equal(await ask(stream, CDS, [], had(CDS)), 'cluster new');
  assert.equal(await ask(stream, RDS, ['inference'], had(RDS)), 'route');
  stream.send({ typeUrl: EDS, resourceNamesSubscribe: ['new'] });
  await clock.advance(2 * retireMs);
  await quiet(stream);
  publish();
  assert.equal(await take(stream), 'endpoint new');
  await clock.advance(SWEEP_MS);
  assert.equal(await take(stream), 'route inference');
  await clock.advance(retireMs - 1);
  await quiet(stream);
  await clock.advance(2 * SWEEP_MS);
  assert.equal(await take(stream), 'cluster -old');
});

test('what it asks for by name, and what changes that it did not bring, is not kept', async (t) => {
  const had = await versionsOf(t, 'old');
  const { publish, open } = await plane(t, 'new');
  publish();
  const stream = open();
  await ask(stream, CDS, [], had(CDS));
  assert.equal(await ask(stream, CDS, ['old']), 'cluster -old');
  await ask(stream, RDS, ['inference'], had(RDS));
  assert.equal(await ask(stream, RDS, ['inference']), 'route inference');
});
