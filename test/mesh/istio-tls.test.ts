import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import type { Envoy } from '../../src/demo/envoy.ts';
import { TestCa } from '../support/pki.ts';
import { waitFor } from '../support/wait-for.ts';
import { Client } from './client.ts';
import { diagnosis, faultsIn } from './diagnosis.ts';
import { IstioMesh } from './istio-mesh.ts';
import { deployed, type Manifest, rewritten } from './manifests.ts';
import { Plane, type PlaneOptions } from './plane.ts';

const ADDRESSES = ['127.0.97.1', '127.0.97.2'];

let mesh: IstioMesh;
let servers: readonly Server[] = [];
let backends: PlaneOptions['backends'] = [];
let client: Client;
const planes: Plane[] = [];

before(async () => {
  mesh = await IstioMesh.start();
  client = new Client(mesh.port, 'llama.inference');
  const { cert, key } = await mesh.identity('llama');
  servers = ADDRESSES.map(() =>
    createServer(
      // as the sidecar of a backend: nobody without a certificate of the mesh
      {
        cert,
        key,
        ca: mesh.authority.cert,
        requestCert: true,
        rejectUnauthorized: true,
        ALPNProtocols: ['istio'],
      },
      (request, response) => {
        const peer = (request.socket as TLSSocket).getPeerCertificate().subjectaltname;
        response.setHeader('x-backend', peer ?? '').end('ok\n');
      },
    ),
  );
  const ports = await Promise.all(servers.map((server, index) => listening(server, ADDRESSES[index] ?? '')));
  backends = ports.map((port, index) => ({ address: ADDRESSES[index] ?? '', port }));
});
after(async () => {
  await mesh?.stop();
  await Promise.all(planes.map((plane) => plane.kill()));
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

function listening(server: Server, address: string): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, address, () => resolve((server.address() as AddressInfo).port));
  });
}

async function startPlane(options: Partial<PlaneOptions>): Promise<Plane> {
  const plane = await Plane.start({ backends, loadAware: false, ...options });
  planes.push(plane);
  return plane;
}

const GROUP = 'EnvoyLbPolicy: LeastRequest\nMesh: Istio';
const RULES = ['destination-rule.yaml', 'virtual-service.yaml'];

/** The recipe's EnvoyFilter with what README.md adds to it for TLS. @param authority the file that it names there */
function filterWithTls(plane: Plane, authority: string): Manifest[] {
  const blocks = readFileSync(deployed('istio/README.md'), 'utf8').matchAll(/^```yaml\n([^]*?)^```/gm);
  const found = [...blocks]
    .map(([, yaml]) => yaml ?? '')
    .find((yaml) => yaml.startsWith('channel_credentials:'));
  const json = JSON.stringify(parse(found ?? assert.fail('no such block'))).slice(1, -1);
  return rewritten(mesh.recipe(plane.xdsPort, 'envoy-filter.yaml'), [
    ['"stat_prefix"', `${json},"stat_prefix"`],
    ['/etc/plimsoll/ca.crt', authority],
  ]);
}

async function tlsOf(sidecar: Envoy, plane: Plane): Promise<string | undefined> {
  const findings = await diagnosis(sidecar.admin, plane.admin);
  return findings.find(({ check }) => check === 'tls')?.is;
}

describe('TLS to Plimsoll', () => {
  test('as in README.md; a sidecar without the file keeps the cluster it had', async () => {
    const ca = await TestCa.create();
    const { cert, key } = await ca.issue({ ip: ['127.0.0.1'] });
    const file = (name: string) => join(mesh.folder, name);
    await Promise.all([
      writeFile(file('ca.crt'), ca.cert),
      writeFile(file('tls.crt'), cert),
      writeFile(file('tls.key'), key),
    ]);
    const plain = await startPlane({ group: GROUP });
    const secure = await startPlane({
      group: GROUP,
      tls: { certFile: file('tls.crt'), keyFile: file('tls.key'), clientCaFile: undefined },
    });
    await mesh.cluster.apply(...mesh.recipe(plain.xdsPort, 'envoy-filter.yaml', ...RULES));
    const sidecar = await mesh.proxy('sidecar');
    await client.until('mTLS', ({ status }) => status === 200);
    await mesh.cluster.apply(...filterWithTls(secure, file('none.crt')));
    const rejected = async () =>
      (await sidecar.stats(/cds.update_rejected/)).get('cluster_manager.cds.update_rejected') ?? 0;
    await waitFor('the refusal', async () => (await rejected()) > 0);
    assert.equal((await client.send()).status, 200);
    await mesh.cluster.apply(...filterWithTls(secure, file('ca.crt')));
    await waitFor('TLS', async () => (await tlsOf(sidecar, secure))?.startsWith('set'));
    assert.deepEqual(
      faultsIn(await diagnosis(sidecar.admin, secure.admin)).filter(
        (fault) => !fault.includes('update_rejected'),
      ),
      [],
    );
    assert.equal((await client.send()).status, 200);
  });
});

describe('mTLS of the mesh', () => {
  test('with Mesh: Istio sidecars speak it to backends; without, they do not', async () => {
    const withoutIt = await startPlane({ group: 'EnvoyLbPolicy: LeastRequest' });
    const withIt = await startPlane({ group: GROUP });
    await mesh.cluster.apply(...mesh.recipe(withoutIt.xdsPort, 'envoy-filter.yaml', ...RULES));
    const sidecar = await mesh.proxy('sidecar');
    await waitFor('the endpoints', async () =>
      (await sidecar.clusters()).some(({ address }) => address.startsWith('127.0.97.1:')),
    );
    assert.equal((await client.send()).backend, undefined);
    await mesh.cluster.apply(...mesh.recipe(withIt.xdsPort, 'envoy-filter.yaml'));
    const { backend } = await client.until('mTLS', ({ status }) => status === 200);
    assert.equal(backend, 'URI:spiffe://cluster.local/ns/inference/sa/client');
    assert.deepEqual(faultsIn(await diagnosis(sidecar.admin, withIt.admin)), []);
  });
});
