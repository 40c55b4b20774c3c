import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { status } from '@grpc/grpc-js';
import { App } from '../../src/app.ts';
import type { Assignment, EndpointHealth } from '../../src/core/model/assignment.ts';
import type { Configuration } from '../../src/core/model/configuration.ts';
import { Publisher } from '../../src/publish/publisher.ts';
import { SnapshotStore } from '../../src/publish/snapshot-store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { encoder, listenerEncoders } from '../../src/xds/encoder.ts';
import { XdsServer } from '../../src/xds/server.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import { adminSettings, configuration, listener, serverGroup } from '../support/configuration.ts';
import { GrpcBackend } from '../support/grpc-backend.ts';
import { waitFor } from '../support/wait-for.ts';
import { xdsObserver } from '../support/xds-observer.ts';
import { xdsSettings } from '../support/xds-settings.ts';

const GROUP = 'llama';

test('an application resolves a group by its name and follows a reload', async (t) => {
  const backends = await startBackends(t, '127.0.45', 3);
  const [first, second, third] = backends as [GrpcBackend, GrpcBackend, GrpcBackend];
  const app = new App({ configuration: configurationOf(first), clock: systemClock, log: silentLogger });
  const { xds } = await app.start();
  t.after(() => app.stop(AbortSignal.abort()));
  const application = new Application(t, xds.port);
  assert.equal(await application.call(), first.id);
  app.reload(configurationOf(second, third));
  await waitFor('the other backends', async () => (await application.call()) !== first.id);
  assert.deepEqual(await application.backends(10), [second.id, third.id]);
});

test('an application follows health, all of it too, and does not see weights', async (t) => {
  const backends = await startBackends(t, '127.0.46', 2);
  const [first, second] = backends as [GrpcBackend, GrpcBackend];
  const plane = await startPlane(t, backends);
  plane.publish('HEALTHY', 'HEALTHY');
  const application = new Application(t, plane.port);
  await waitFor('both backends', async () => (await application.backends(4)).length === 2);
  const calls = await Promise.all(Array.from({ length: 20 }, () => application.call()));
  assert.equal(calls.filter((id) => id === first.id).length, 10, 'the weights are 1 and 100');
  plane.publish('HEALTHY', 'UNHEALTHY');
  await waitFor('the one that is healthy', async () => (await application.backends(4)).length === 1);
  assert.deepEqual(await application.backends(10), [first.id]);
  plane.publish('UNHEALTHY', 'UNHEALTHY');
  const refusal = `${status.UNAVAILABLE} `;
  await waitFor('a refusal', async () => (await application.call()).startsWith(refusal));
  plane.publish('UNHEALTHY', 'HEALTHY');
  await waitFor('the one that is back', async () => (await application.call()) === second.id);
  assert.deepEqual(plane.rejected, []);
});

test('an application refuses the share of its calls that it is told to', async (t) => {
  const backends = await startBackends(t, '127.0.49', 2);
  const plane = await startPlane(t, backends);
  plane.publish('HEALTHY', 'HEALTHY');
  const application = new Application(t, plane.port);
  await waitFor('both backends', async () => (await application.backends(4)).length === 2);
  plane.shed(0.4);
  plane.publish('HEALTHY', 'HEALTHY');
  const isRefused = (answer: string): boolean => answer.startsWith(`${status.UNAVAILABLE} `);
  await waitFor('a refusal', async () => isRefused(await application.call()));
  const answers = await Promise.all(Array.from({ length: 500 }, () => application.call()));
  const refused = answers.filter(isRefused).length;
  assert.ok(refused > 150 && refused < 250, `${refused} of 500 for a share of 0.4`);
  plane.shed(0);
  plane.publish('HEALTHY', 'HEALTHY');
  await waitFor('the end of it', async () => (await application.backends(30)).every((id) => !isRefused(id)));
  assert.deepEqual(plane.rejected, []);
});

test('an application takes what its zone is told, and its localities by their weights', async (t) => {
  const backends = await startBackends(t, '127.0.65', 2);
  const [first, second] = backends as [GrpcBackend, GrpcBackend];
  const plane = await startPlane(t, backends);
  plane.publishZones('a', 'b');
  const application = new Application(t, plane.port, 'a');
  await waitFor('an answer', async () => !(await application.call()).includes(' '));
  const calls = await Promise.all(Array.from({ length: 60 }, () => application.call()));
  const [home, away] = [first, second].map(({ id }) => calls.filter((call) => call === id).length);
  // 100 to 1, chosen by chance
  assert.ok((home ?? 0) >= 52 && (home ?? 0) + (away ?? 0) === 60, `${home} and ${away} of 60`);
  assert.deepEqual(plane.rejected, []);
});

async function startBackends(
  t: TestContext,
  network: string,
  count: number,
): Promise<readonly GrpcBackend[]> {
  const backends = Array.from({ length: count }, (_, i) => new GrpcBackend(`${network}.${i + 1}`));
  t.after(() => {
    for (const backend of backends) backend.stop();
  });
  await Promise.all(backends.map((backend) => backend.start()));
  return backends;
}

function configurationOf(...backends: readonly GrpcBackend[]): Configuration {
  const listen = { host: '127.0.0.1', port: 0 };
  const servers = backends.map(({ address, port, id }) => ({ address, port, id, weight: 100 }));
  return configuration({
    xds: { ...xdsSettings(), listen },
    admin: adminSettings(),
    serverGroups: [serverGroup(GROUP, { servers })],
  });
}

/** Publishes what the test says, in weights of 1 and 100. */
async function startPlane(t: TestContext, backends: readonly GrpcBackend[]) {
  const store = new SnapshotStore();
  const publisher = new Publisher(encoder, [{ store, listener: listenerEncoders.grpc }]);
  const rejected: string[] = [];
  const server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    clock: systemClock,
    log: silentLogger,
    settings: xdsSettings(),
    observer: xdsObserver({
      rejected: ({ message }) => rejected.push(message),
      unknownType: (typeUrl) => rejected.push(typeUrl),
    }),
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => server.stop());
  publisher.configure([serverGroup(GROUP, { envoyLbPolicy: 'LeastRequest' })], [listener(GROUP)], 0);
  let dropShare = 0;
  const publish = (...healths: readonly EndpointHealth[]): void => {
    const endpoints = backends.map(({ address, port: of }, i) => ({
      address,
      port: of,
      weight: 100 ** i,
      health: healths[i] ?? 'HEALTHY',
    }));
    publisher.publish({ serverGroup: GROUP, endpoints, dropShare });
  };
  const publishZones = (...zones: readonly string[]): void => {
    const assignmentFor = (own: string | undefined): Assignment => ({
      serverGroup: GROUP,
      endpoints: backends.map(({ address, port: of }, i) => ({
        address,
        port: of,
        weight: zones[i] === own ? 100 : 1,
        health: 'HEALTHY',
        zone: zones[i],
      })),
      dropShare: 0,
    });
    const own = zones.map((zone) => ({ zone, assignment: assignmentFor(zone) }));
    publisher.publish(assignmentFor(zones.at(-1)), own);
  };
  return {
    port,
    rejected,
    publish,
    /** One backend in each of these zones, whose clients go there 100 times as often; others to the last one. */
    publishZones,
    /** Lets applications refuse a share of the calls from the next publish on. */
    shed: (share: number): void => {
      dropShare = share;
    },
  };
}

/** A gRPC application without a proxy. */
class Application {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: AsyncIterator<string, undefined>;

  constructor(t: TestContext, xdsPort: number, zone?: string) {
    const main = fileURLToPath(new URL('../support/grpc-application.ts', import.meta.url));
    const server = { server_uri: `127.0.0.1:${xdsPort}`, channel_creds: [{ type: 'insecure' }] };
    const bootstrap = {
      xds_servers: [{ ...server, server_features: ['xds_v3'] }],
      node: { id: 'application', locality: zone === undefined ? {} : { zone } },
    };
    this.#child = spawn(process.execPath, ['--import', 'tsx', main, GROUP], {
      env: { ...process.env, GRPC_XDS_BOOTSTRAP_CONFIG: JSON.stringify(bootstrap) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    t.after(() => this.#child.stdin.end());
  }

  /** The backend that answered, or code and details of the error. */
  async call(): Promise<string> {
    this.#child.stdin.write('\n');
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error('the application ended');
    return value;
  }

  /** The backends that answer so many calls, sorted. */
  async backends(calls: number): Promise<readonly string[]> {
    const answers = await Promise.all(Array.from({ length: calls }, () => this.call()));
    return [...new Set(answers)].toSorted();
  }
}
