import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import type { Endpoint } from '../../src/core/model/assignment.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from '../support/cleanups.ts';
import { configuration, listener, serverGroup } from '../support/configuration.ts';
import { EdsFile } from '../support/eds-file.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * The static bootstrap and the bytes of an assignment on a real Envoy, without a control plane: Envoy watches a file
 * in its place.
 */

let file: EdsFile;
let envoy: Envoy;
let url: string;
const cleanups = new Cleanups();

async function startBackend(name: string): Promise<Endpoint> {
  const server = createServer((message, response) => {
    response.statusCode = message.url === '/fails' ? 503 : 200;
    response.end(name);
  });
  cleanups.add(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { address: '127.0.0.1', port, weight: 100_000, health: 'HEALTHY' };
}

/** Puts an assignment where Envoy watches. */
function publish(endpoints: readonly Endpoint[]): Promise<void> {
  return file.publish({ serverGroup: 'llama', endpoints, dropShare: 0 });
}

/** A static bootstrap whose cluster watches the file instead of asking the control plane. */
function bootstrap(): string {
  const of = configuration({
    serverGroups: [serverGroup('llama', { retryAfterSeconds: 7, envoyLbPolicy: 'RoundRobin' })],
    listeners: [listener('llama', { address: '127.0.0.1', port: 0 })],
  });
  const result = makeBootstrap(of, { mode: 'eds', json: true, adminPort: 0 });
  assert.equal(result.kind, 'ok');
  return JSON.stringify(
    JSON.parse(result.value, (key, value: unknown) => (key === 'eds_config' ? file.source : value)),
  );
}

async function get(path: string): Promise<{ status: number; body: string; retryAfter: unknown }> {
  const { statusCode, headers, body } = await request(`${url}${path}`);
  return { status: statusCode, body: await body.text(), retryAfter: headers['retry-after'] };
}

let first: Endpoint;
let second: Endpoint;

before(async () => {
  file = await cleanups.own(EdsFile.create(), (made) => made.remove());
  first = await startBackend('first');
  second = await startBackend('second');
  await publish([first, { ...second, health: 'UNHEALTHY', weight: 49_981 }]);
  envoy = await cleanups.own(Envoy.start({ bootstrap: bootstrap() }), (started) => started.stop());
  url = `http://${await waitFor('the listener', () => envoy.listener('inference'))}`;
});

after(() => cleanups.run());

const unavailable = { status: 503, body: 'no available upstream', retryAfter: '7' };

test('Envoy holds the weights and the health that the assignment has', async () => {
  const hosts = (await envoy.clusters()).filter((host) => host.cluster === 'llama');
  assert.deepEqual(
    hosts.map(({ address, weight, health }) => ({ address, weight, health })),
    [
      { address: `127.0.0.1:${first.port}`, weight: 100_000, health: 'HEALTHY' },
      { address: `127.0.0.1:${second.port}`, weight: 49_981, health: 'UNHEALTHY' },
    ],
  );
});

test('only the healthy one of two gets requests, without panic', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/')));
  assert.deepEqual(new Set(answers.map(({ body }) => body)), new Set(['first']));
});

test("a backend's own 503 passes as it is", async () => {
  assert.deepEqual(await get('/fails'), { status: 503, body: 'first', retryAfter: undefined });
});

test('all saturated: 503 with retry-after; back with the next assignment', async () => {
  await publish([first, second].map((each) => ({ ...each, health: 'UNHEALTHY' as const })));
  assert.deepEqual(await waitFor('a 503', async () => eventually(await get('/'), 503)), unavailable);
  await publish([{ ...first, health: 'DRAINING' }, second]);
  const answer = await waitFor('a 200', async () => eventually(await get('/'), 200));
  assert.deepEqual(answer, { status: 200, body: 'second', retryAfter: undefined });
  // by which the alert on lost backends leaves the one that drains alone
  const members = await envoy.stats(/^cluster\.llama\.membership_(total|healthy|excluded)$/);
  assert.deepEqual(
    ['total', 'healthy', 'excluded'].map((name) => members.get(`cluster.llama.membership_${name}`)),
    [2, 1, 1],
  );
});

test('an assignment without endpoints clears the cluster: 503', async () => {
  await publish([]);
  assert.deepEqual(await waitFor('a 503', async () => eventually(await get('/'), 503)), unavailable);
  assert.deepEqual(
    (await envoy.clusters()).filter((host) => host.cluster === 'llama'),
    [],
  );
});

test('Envoy has refused nothing', async () => {
  const stats = await envoy.stats(/^cluster\.llama\.update_/);
  assert.equal(stats.get('cluster.llama.update_rejected'), 0);
  assert.equal(stats.get('cluster.llama.update_success'), 4);
});

function eventually<T extends { readonly status: number }>(answer: T, status: number): T | undefined {
  return answer.status === status ? answer : undefined;
}
