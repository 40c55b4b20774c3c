import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import type { Assignment } from '../../src/core/model/assignment.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { clusterJson } from '../../src/xds/resources/cluster.ts';
import { listenerJson } from '../../src/xds/resources/listener.ts';
import type { ProtoJsonMessage } from '../../src/xds/resources/proto-json.ts';
import { Cleanups } from '../support/cleanups.ts';
import { serverGroup } from '../support/configuration.ts';
import { EdsFile } from '../support/eds-file.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { TestCa } from '../support/pki.ts';
import { startBackends } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** A cluster as Istio makes it: TLS to endpoints whose metadata say so, plain text to all others. */

const plain = new GaugeBackend('127.0.64.1');
const cleanups = new Cleanups();
let envoy: Envoy;
let url: string;

const transportSocketMatches = (ca: string): readonly ProtoJsonMessage[] => [
  {
    name: 'tlsMode-istio',
    match: { tlsMode: 'istio' },
    transport_socket: {
      name: 'envoy.transport_sockets.tls',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
        common_tls_context: { validation_context: { trusted_ca: { inline_string: ca } } },
      },
    },
  },
  {
    name: 'tlsMode-disabled',
    match: {},
    transport_socket: {
      name: 'envoy.transport_sockets.raw_buffer',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
      },
    },
  },
];

before(async () => {
  const ca = await TestCa.create();
  const secure = createServer(await ca.issue({ ip: ['127.0.64.2'] }), (_request, response) => {
    response.end('secure');
  });
  cleanups.add(() => secure.close());
  await new Promise<void>((resolve) => secure.listen(0, '127.0.64.2', resolve));
  plain.serve = (_request, response) => {
    response.end('plain');
  };
  await startBackends([plain], cleanups);
  const groups = ['mesh', 'none'].map((name) => serverGroup(name));
  const { port } = secure.address() as AddressInfo;
  const endpoint = (address: string, at: number) => ({
    address,
    port: at,
    weight: 1,
    health: 'HEALTHY' as const,
  });
  const sources = await Promise.all([
    published({
      serverGroup: 'mesh',
      endpoints: [endpoint('127.0.64.2', port)],
      dropShare: 0,
      mesh: 'Istio',
    }),
    published({ serverGroup: 'none', endpoints: [endpoint(plain.address, plain.port)], dropShare: 0 }),
  ]);
  const routes = groups.map(({ name }) => ({ match: { prefix: `/${name}` }, route: { cluster: name } }));
  const starting = Envoy.start({
    bootstrap: JSON.stringify({
      node: { id: 'n', cluster: 'c' },
      admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } },
      static_resources: {
        listeners: [
          listenerJson({ name: 'inference', address: '127.0.0.1', port: 0 }, serverGroup('mesh'), {
            route_config: { name: 'r', virtual_hosts: [{ name: 'v', domains: ['*'], routes }] },
          }),
        ],
        clusters: groups.map((group, i) => ({
          ...clusterJson(group, sources[i] ?? {}),
          transport_socket_matches: transportSocketMatches(ca.cert),
        })),
      },
    }),
  });
  envoy = await cleanups.own(starting, (started) => started.stop());
  url = `http://${await waitFor('the listener', () => envoy.listener('inference'))}`;
});
after(() => cleanups.run());

async function published(assignment: Assignment): Promise<ProtoJsonMessage> {
  const file = await cleanups.own(EdsFile.create(), (made) => made.remove());
  await file.publish(assignment);
  return file.source;
}

const get = async (path: string): Promise<string> => (await request(url + path)).body.text();

test('Mesh: Istio makes sidecars speak TLS to the endpoints of the group, and only to them', async () => {
  assert.equal(await get('/mesh'), 'secure');
  assert.equal(await get('/none'), 'plain');
  const stats = await envoy.stats(/^cluster\.(mesh|none)\.(ssl\.handshake|update_rejected)$/);
  assert.equal(stats.get('cluster.mesh.ssl.handshake'), 1);
  assert.equal(stats.get('cluster.none.ssl.handshake') ?? 0, 0);
  assert.equal(stats.get('cluster.mesh.update_rejected'), 0);
});
