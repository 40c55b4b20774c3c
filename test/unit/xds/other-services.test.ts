/** What Envoys and gRPC applications may call besides, and Plimsoll does not serve. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, credentials, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { XdsServer } from '../../../src/xds/server.ts';
import { XDS_SERVICES } from '../../../src/xds/services.ts';
import { snapshot } from '../../support/snapshots.ts';
import { XdsClient } from '../../support/xds-client.ts';
import { contentOf } from '../../support/xds-conversation.ts';
import { xdsObserver } from '../../support/xds-observer.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const STREAMS = [
  // client status, load reports
  '/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus',
  '/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats',
  '/envoy.service.load_stats.v2.LoadReportingService/StreamLoadStats',
  '/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets',
  '/envoy.service.route.v3.VirtualHostDiscoveryService/DeltaVirtualHosts',
  '/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources',
];
const UNARY = [
  '/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus',
  '/envoy.service.cluster.v3.ClusterDiscoveryService/FetchClusters',
];

const opened: string[] = [];
const store = new SnapshotStore();
let server: XdsServer;
let client: Client;
let xds: XdsClient;

before(async () => {
  store.set(snapshot({ cluster: { a: '1' } }));
  server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings: xdsSettings(),
    clock: systemClock,
    log: silentLogger,
    observer: xdsObserver({ streamOpened: (kind) => opened.push(kind) }),
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  client = new Client(`${address.host}:${address.port}`, credentials.createInsecure());
  xds = new XdsClient(address);
});

after(async () => {
  client.close();
  xds.close();
  await server.stop();
});

const same = (bytes: Buffer): Buffer => bytes;

for (const path of STREAMS) {
  test(`${path} is not implemented`, async () => {
    const end = await new Promise<StatusObject>((resolve) => {
      const call = client.makeBidiStreamRequest(path, same, same);
      call.on('status', resolve).on('error', () => undefined);
      call.resume().write(Buffer.from([10, 0]));
    });
    assert.equal(end.code, status.UNIMPLEMENTED);
  });
}

for (const path of UNARY) {
  test(`${path} is not implemented`, async () => {
    const error = await new Promise<ServiceError | null>((resolve) => {
      client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (each) => {
        resolve(each);
      });
    });
    assert.equal(error?.code, status.UNIMPLEMENTED);
  });
}

test('an application that is refused its load reports is served all the same, and nothing is counted', async () => {
  opened.length = 0;
  const stream = xds.open('ads', 'sotw');
  stream.send({ typeUrl: TYPE_URLS.cluster });
  const first = await stream.next();
  stream.acknowledge(first);
  const reports = client.makeBidiStreamRequest(STREAMS[1] ?? '', same, same);
  await new Promise((resolve) =>
    reports
      .on('status', resolve)
      .on('error', () => undefined)
      .resume(),
  );
  store.set(snapshot({ cluster: { a: '2' } }));
  assert.equal(contentOf(await stream.next()), 'a@2');
  assert.deepEqual(opened, ['ads']);
});
