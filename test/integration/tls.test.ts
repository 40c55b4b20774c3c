import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { App } from '../../src/app.ts';
import type { BoundAddresses } from '../../src/app/bound-addresses.ts';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { formatMistake, parseConfiguration } from '../../src/config/load.ts';
import type { Configuration } from '../../src/core/model/configuration.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { type Issued, TestCa } from '../support/pki.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import { CuttableWire } from '../support/cuttable-wire.ts';
import { startBackends } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Real Envoys with the bootstraps that the command prints, against a control plane that asks for certificates. Its own
 * are mounted as Kubernetes mounts a secret: the link `..data` is swapped.
 */

const SIDECAR = 'spiffe://test/ns/llama/sa/sidecar';

let folder: string;
let ca: TestCa;
let configuration: Configuration;
let app: App;
let bound: BoundAddresses;
let secrets = 0;
const backends = [new GaugeBackend('127.0.0.2'), new GaugeBackend('127.0.0.3')];
const log: Record<string, unknown>[] = [];
const cleanups = new Cleanups();

/** What an operator would write. */
function yaml(): string {
  const server = ({ address, port }: GaugeBackend): string => `{Address: ${address}, Port: ${port}}`;
  return `Xds:
  Listen: 127.0.0.1:0
  DrainSeconds: 0.1
  Tls: {CertFile: ${folder}/secret/tls.crt, KeyFile: ${folder}/secret/tls.key, ClientCaFile: ${folder}/secret/ca.crt}
  Authorization: [{Identity: spiffe://test/ns/llama/*, ServerGroups: [llama]}]
Admin: {Listen: 127.0.0.1:0}
ServerGroups:
  - {Name: llama, Servers: [${backends.map(server).join(', ')}]}
  - {Name: mistral, Servers: [${server(backends[0] as GaugeBackend)}]}
Listeners:
  - {Name: inference, Address: 127.0.0.1, Port: 10000, ServerGroup: llama}
  - {Name: other, Address: 127.0.0.1, Port: 10001, ServerGroup: mistral}
`;
}

/** Puts the control plane's certificate in place of the one before, all files at once. */
async function mountSecret({ cert, key }: Issued, authorities: string): Promise<void> {
  const version = `..v${++secrets}`;
  const mount = join(folder, 'secret');
  await mkdir(join(mount, version), { recursive: true });
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key, 'ca.crt': authorities })) {
    await writeFile(join(mount, version, name), text);
    if (secrets === 1) await symlink(join('..data', name), join(mount, name));
  }
  await symlink(version, join(mount, '..next'));
  await rename(join(mount, '..next'), join(mount, '..data'));
}

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-tls-'));
  folder = await cleanups.own(made, (path) => rm(path, { recursive: true }));
  ca = await TestCa.create();
  await startBackends(backends, cleanups);
  await mountSecret(await ca.issue({ ip: ['127.0.0.1'] }), ca.cert);
  const parsed = parseConfiguration(yaml(), 'tls.yaml');
  if (parsed.kind === 'invalid') throw new Error(parsed.mistakes.map(formatMistake).join('\n'));
  const listeners = parsed.configuration.listeners.map((one) => ({ ...one, port: 0 }));
  configuration = { ...parsed.configuration, listeners };
  app = new App({
    configuration,
    clock: systemClock,
    log: pino({ base: null }, { write: (line) => log.push(JSON.parse(line) as Record<string, unknown>) }),
  });
  bound = await cleanups.own(app.start(), () => app.stop(AbortSignal.abort()));
});

after(() => cleanups.run());

interface Sidecar {
  readonly name: string;
  readonly mode?: 'ads' | 'eds';
  readonly issued: Issued;
  /** The authorities that it trusts; default the control plane's. */
  readonly trusts?: readonly TestCa[];
  /** Where it connects to; default the control plane's. */
  readonly port?: number;
  readonly rewrite?: (bootstrap: string) => string;
}

/** A sidecar with its own certificate files, on the bootstrap that the command prints for it. */
async function startSidecar({ name, mode = 'ads', issued, ...options }: Sidecar): Promise<Envoy> {
  const { trusts = [ca], port = bound.xds.port, rewrite } = options;
  const own = join(folder, name);
  await mkdir(own);
  await writeFile(join(own, 'ca.crt'), trusts.map(({ cert }) => cert).join(''));
  await writeFile(join(own, 'tls.crt'), issued.cert);
  await writeFile(join(own, 'tls.key'), issued.key);
  const made = makeBootstrap(configuration, {
    mode,
    xds: [`127.0.0.1:${port}`],
    ca: join(own, 'ca.crt'),
    cert: join(own, 'tls.crt'),
    key: join(own, 'tls.key'),
    nodeId: name,
    adminPort: 0,
    json: false,
    ...(mode === 'eds' ? { group: 'llama' } : {}),
  });
  if (made.kind === 'refused') throw new Error(made.reason);
  const starting = Envoy.start({ bootstrap: rewrite?.(made.value) ?? made.value });
  return cleanups.own(starting, (envoy) => envoy.stop());
}

function sidecarCertificate(of = ca): Promise<Issued> {
  return of.issue({ uri: [SIDECAR], usage: 'client' });
}

/** The sum of all series of a metric of the control plane whose labels match. */
async function metric(name: string, labels = ''): Promise<number> {
  const { body } = await request(`http://127.0.0.1:${bound.admin.port}/metrics`);
  const lines = (await body.text())
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(labels));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

function connected(envoy: Envoy): Promise<boolean> {
  return envoy
    .stats(/^control_plane\.connected_state$/)
    .then((stats) => stats.get('control_plane.connected_state') === 1);
}

test('a sidecar with the right certificate sees its group, and no other one', async () => {
  const envoy = await startSidecar({ name: 'right', issued: await sidecarCertificate() });
  const listener = await waitFor('the listener', () => envoy.listener('inference'));
  const { statusCode } = await request(`http://${listener}/`);
  assert.equal(statusCode, 200);
  assert.equal(await envoy.listener('other'), undefined);
  const clusters = new Set((await envoy.clusters()).map(({ cluster }) => cluster));
  assert.deepEqual(clusters, new Set(['llama', 'plimsoll_xds']));
});

test('wrong sidecars: the listener stays closed until initial_fetch_timeout, then 503; the log says why', async () => {
  const stranger = await TestCa.create('CN=other');
  const wrong = {
    foreign: { issued: await sidecarCertificate(stranger) },
    expired: { issued: await ca.issue({ uri: [SIDECAR], validHours: [-2, -1] }) },
    suspicious: { issued: await sidecarCertificate(), trusts: [stranger] },
    denied: { issued: await ca.issue({ uri: ['spiffe://test/ns/other/sa/sidecar'] }) },
  };
  const startedAt = performance.now();
  const sidecars = Object.entries(wrong).map(([name, of]) => startSidecar({ name, mode: 'eds', ...of }));
  for (const starting of sidecars) {
    // ready is what Envoy is once its listeners are open
    const envoy = await starting;
    assert.ok(performance.now() - startedAt > 4_000);
    const listener = await waitFor('the listener', () => envoy.listener('inference'));
    const { statusCode, body } = await request(`http://${listener}/`);
    assert.deepEqual([statusCode, await body.text()], [503, 'no available upstream']);
    assert.equal(await connected(envoy), false);
  }
  const failures = 'plimsoll_xds_tls_handshake_failures_total';
  assert.ok((await metric(failures, 'client_certificate_refused')) > 0);
  // an alert is lost when the connection is reset before it has been read; Envoy comes again
  await waitFor(
    'Envoy to say that it does not trust the server',
    async () => (await metric(failures, 'server_certificate_refused')) > 0,
  );
  assert.ok((await metric('plimsoll_xds_permission_denied_total')) > 0);
  for (const said of [
    { reason: 'client_certificate_refused', code: 'CERT_HAS_EXPIRED' },
    { reason: 'server_certificate_refused' },
    { client: 'spiffe://test/ns/other/sa/sidecar', identities: 1 },
  ]) {
    const line = log.find((each) => Object.entries(said).every(([key, value]) => each[key] === value));
    assert.ok(line !== undefined, JSON.stringify(said));
  }
  assert.match(
    await readFile((await sidecars[3])?.logFile ?? '', 'utf8'),
    /no%20server%20group%20is%20open%20to/,
  );
  for (const starting of sidecars) await (await starting).stop();
});

test('the certificates of both sides and their authority rotate under load, and nothing fails', async (t) => {
  const name = 'rotating';
  const successor = await TestCa.create('CN=successor');
  const wire = await CuttableWire.open(bound.xds.port);
  t.after(() => wire.close());
  const secret = (file: string): string => join(folder, name, file);
  const sds = join(folder, 'sds.yaml');
  await writeFile(
    sds,
    `resources:
  - '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: client
    tls_certificate:
      certificate_chain: {filename: ${secret('tls.crt')}}
      private_key: {filename: ${secret('tls.key')}}
      watched_directory: {path: ${join(folder, name)}}
`,
  );
  const envoy = await startSidecar({
    name,
    port: wire.port,
    issued: await sidecarCertificate(),
    trusts: [ca, successor],
    rewrite: (text) =>
      text.replace(
        /^( +)tls_certificates:\n(?:\1 .*\n)+/m,
        `$1tls_certificate_sds_secret_configs:\n$1  - name: client\n$1    sds_config: {path_config_source: {path: ${sds}}}\n`,
      ),
  });
  const load = new SteadyLoad(
    t,
    `http://${await waitFor('the listener', () => envoy.listener('inference'))}/`,
  );
  await waitFor('some load', () => load.count('status 200') > 20);
  const streams = await metric('plimsoll_xds_streams');

  // a bad one first: nothing changes
  const next = await successor.issue({ ip: ['127.0.0.1'], validHours: [-1, 48] });
  const notAfter = await metric('plimsoll_xds_certificate_not_after_seconds');
  await mountSecret({ ...next, key: (await successor.issue()).key }, ca.cert);
  await waitFor(
    'the refusal',
    async () => (await metric('plimsoll_xds_certificate_reload_failures_total')) === 1,
  );
  assert.equal(await metric('plimsoll_xds_certificate_not_after_seconds'), notAfter);

  // the good one; the stream that is there lives on
  await mountSecret(next, successor.cert);
  await waitFor(
    'the new certificate',
    async () => (await metric('plimsoll_xds_certificate_not_after_seconds')) > notAfter,
  );
  assert.equal(await metric('plimsoll_xds_streams'), streams);
  assert.equal(await connected(envoy), true);

  // the sidecar's new files, and a new connection with them: the control plane takes no others any more
  const { cert, key } = await sidecarCertificate(successor);
  await writeFile(join(folder, 'next.crt'), cert);
  await writeFile(join(folder, 'next.key'), key);
  await rename(join(folder, 'next.key'), secret('tls.key'));
  await rename(join(folder, 'next.crt'), secret('tls.crt'));
  await waitFor('Envoy to take them', async () => {
    const stat = 'cluster.plimsoll_xds.client_ssl_socket_factory.ssl_context_update_by_sds';
    return (await envoy.stats(/ssl_context_update_by_sds/)).get(stat) === 2;
  });
  const opened = wire.opened;
  wire.cut();
  await waitFor('the new connection', async () => wire.opened > opened && (await connected(envoy)));
  const answers = await load.end();
  assert.deepEqual([...answers.keys()], ['status 200']);
});
