import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { App } from '../../src/app.ts';
import type {
  AdminSettings,
  Configuration,
  TlsFiles,
  XdsLimits,
} from '../../src/core/model/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { roomForConnections } from '../../src/runtime/open-files.ts';
import { adminSettings, configuration } from '../support/configuration.ts';
import { TestCa } from '../support/pki.ts';
import { freePort } from '../support/ports.ts';
import { xdsSettings } from '../support/xds-settings.ts';

const WARNING = /no Xds\.Tls: whoever reaches this port reads every assignment/;

interface Started {
  readonly app: App;
  readonly log: readonly string[];
  readonly adminPort: number;
  readonly settings: Configuration;
}

async function makeApp(
  host: string,
  tls?: TlsFiles,
  admin?: Partial<AdminSettings>,
  limits?: Partial<XdsLimits>,
): Promise<Started> {
  const log: string[] = [];
  const adminPort = await freePort();
  const settings = configuration({
    xds: { ...xdsSettings(limits), listen: { host, port: 0 }, drainSeconds: 0.001, tls },
    admin: adminSettings(adminPort, admin),
    listeners: [],
  });
  const app = new App({
    configuration: settings,
    clock: systemClock,
    log: pino({ base: null }, { write: (line) => log.push(line) }),
  });
  return { app, log, adminPort, settings };
}

/** The log of a start. */
async function logOf(host: string, tls?: TlsFiles): Promise<string> {
  const { app, log } = await makeApp(host, tls);
  await app.start();
  await app.stop(AbortSignal.abort());
  return log.join('');
}

for (const host of ['0.0.0.0', '::']) {
  test(`plain text on ${host}: a warning at the start`, async () => {
    assert.match(await logOf(host), WARNING);
  });
}

for (const host of ['127.0.0.1', '127.0.0.9', '::1']) {
  test(`plain text on ${host}: none`, async () => {
    assert.doesNotMatch(await logOf(host), WARNING);
  });
}

test('TLS on every address: none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-app-'));
  t.after(() => rm(folder, { recursive: true }));
  const { cert, key } = await (await TestCa.create()).issue();
  const tls = { certFile: join(folder, 'crt'), keyFile: join(folder, 'key'), clientCaFile: undefined };
  await writeFile(tls.certFile, cert);
  await writeFile(tls.keyFile, key);
  assert.doesNotMatch(await logOf('0.0.0.0', tls), WARNING);
});

test('a reload that changes who may see what says that it needs a restart', async () => {
  const { app, log, settings } = await makeApp('127.0.0.1');
  await app.start();
  const rules = [{ identity: '*', serverGroups: ['llama'] }];
  app.reload({ ...settings, xds: { ...settings.xds, authorization: rules } });
  await app.stop(AbortSignal.abort());
  assert.match(log.join(''), /a change of Xds needs a restart/);
});

test('certificates that are not there: no start, and nothing is left open', async () => {
  const tls = { certFile: '/nowhere/crt', keyFile: '/nowhere/key', clientCaFile: undefined };
  const { app, adminPort } = await makeApp('127.0.0.1', tls);
  await assert.rejects(app.start(), {
    name: 'PlimsollError',
    code: 'io',
    message: /^Xds\.Tls\.CertFile \/nowhere\/crt: cannot be read: ENOENT/,
  });
  const successor = createServer();
  await new Promise<void>((resolve, reject) => {
    successor.once('error', reject).listen(adminPort, '127.0.0.1', resolve);
  });
  await new Promise((resolve) => successor.close(resolve));
});

async function adminLogOf(admin: Partial<AdminSettings>): Promise<string> {
  const { app, log } = await makeApp('127.0.0.1', undefined, admin);
  await app.start();
  await app.stop(AbortSignal.abort());
  return log.join('');
}

test('the admin address open to the network: a warning without a token, and with one without TLS', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-app-'));
  t.after(() => rm(folder, { recursive: true }));
  const bearerTokenFile = join(folder, 'token');
  await writeFile(bearerTokenFile, 'a-token-of-some-length');
  const listen = { host: '0.0.0.0', port: 0 };
  assert.match(await adminLogOf({ listen }), /no Admin\.BearerTokenFile: whoever reaches this port/);
  assert.match(await adminLogOf({ listen, bearerTokenFile }), /no Admin\.Tls: the token .* in plain text/);
  assert.doesNotMatch(await adminLogOf({ bearerTokenFile }), /no Admin\./);
  assert.doesNotMatch(await adminLogOf({}), /no Admin\./);
});

test('fewer open files than streams: a line that names the limit, and no warning', async () => {
  const streams = 2 ** 40;
  const { app, log } = await makeApp('127.0.0.1', undefined, {}, { streams });
  await app.start();
  await app.stop(AbortSignal.abort());
  const levels = log
    .filter((one) => one.includes('ulimit -n'))
    .map((one) => (JSON.parse(one) as { readonly level: number }).level);
  // where nothing limits them there is nothing to say
  assert.deepEqual(levels, roomForConnections() < streams ? [30] : []);
});
