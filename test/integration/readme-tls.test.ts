import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { findEnvoy } from '../../src/demo/envoy-binary.ts';
import { BUILT_MAIN } from '../support/built-main.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { TestCa } from '../support/pki.ts';
import { freePorts } from '../support/ports.ts';
import { Program } from '../support/program.ts';
import { startBackends } from '../support/voyage.ts';

/** The section "Securing the xDS port" as it stands there, but for ports and the servers' addresses. */

const README = fileURLToPath(new URL('../../README.md', import.meta.url));
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** As long as a control plane and an Envoy may take elsewhere. */
const START_MS = 30_000;

const backend = new GaugeBackend('127.0.0.1');
const cleanups = new Cleanups();
let folder: string;
let ports: Readonly<Record<'18000' | '9090' | '10000', number>>;

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-readme-'));
  folder = await cleanups.own(made, (path) => rm(path, { recursive: true }));
  const [xds = 0, admin = 0, listener = 0] = await freePorts(3);
  ports = { 18000: xds, 9090: admin, 10000: listener };
  await startBackends([backend], cleanups);
});

after(() => cleanups.run());

/** The blocks of one language in a section of the README. */
async function blocks(section: string, language: string): Promise<readonly string[]> {
  const [, text = ''] = (await readFile(README, 'utf8')).split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return Array.from(own.matchAll(/^```(\w+)\n(.*?)^```$/gms)).flatMap(([, of, block = '']) =>
    of === language ? [block] : [],
  );
}

/** With the ports of this test, our command as it is built, and the Envoy of the tests. */
function localized(text: string): string {
  return Object.entries(ports)
    .reduce((all, [from, to]) => all.replaceAll(`:${from}`, `:${to}`), text)
    .replaceAll('Port: 10000', `Port: ${ports[10000]}`)
    .replaceAll('node dist/main.js', `${process.execPath} ${BUILT_MAIN}`)
    .replaceAll(/^envoy /gm, `${findEnvoy()} --use-dynamic-base-id --concurrency 1 `);
}

/** Starts commands of which the last one goes on. */
function start(script: string): Program {
  const lines = localized(script).trimEnd().replaceAll('\\\n', '').split('\n');
  const last = lines.pop() ?? '';
  const program = new Program('bash', ['-euc', [...lines, `exec ${last}`].join('\n')], { cwd: folder });
  cleanups.add(() => program.stop(100));
  return program;
}

async function makePki(script: string): Promise<void> {
  if (hasOpenssl) {
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder });
    return;
  }
  const ca = await TestCa.create();
  const server = await ca.issue({ dns: ['localhost'], ip: ['127.0.0.1'] });
  const sidecar = await ca.issue({ uri: ['spiffe://example.org/ns/llama/sa/sidecar'] });
  await mkdir(join(folder, 'tls'));
  await writeFile(join(folder, 'tls', 'ca.crt'), ca.cert);
  for (const [name, { cert, key }] of Object.entries({ server, sidecar })) {
    await writeFile(join(folder, 'tls', `${name}.crt`), cert);
    await writeFile(join(folder, 'tls', `${name}.key`), key);
  }
}

/** Waits until this answers 200. */
async function answers(program: Program, url: string): Promise<void> {
  const look = async (): Promise<boolean> => {
    const { statusCode, body } = await request(url);
    await body.dump();
    return statusCode === 200;
  };
  await program.until(url, look, START_MS);
}

const pki = hasOpenssl ? 'its commands for openssl' : 'no openssl here: the same certificates from a library';

test(`the README's section on TLS works as it stands, with ${pki}`, async () => {
  const section = 'Securing the xDS port';
  const [make = '', serve = '', connect = '', ...moreCommands] = await blocks(section, 'sh');
  const [xds = '', watched = '', secrets = '', ...moreYaml] = await blocks(section, 'yaml');
  const [rest = ''] = await blocks('Run it in front of your servers', 'yaml');
  assert.deepEqual([moreCommands, moreYaml], [[], []]);
  await makePki(make);
  const servers = rest.replaceAll(/Address: 10\.0\.3\.1\d, Port: 8000/g, (server) =>
    server.includes('11') ? `Address: 127.0.0.1, Port: ${backend.port}` : 'Address: 127.0.0.1, Port: 9',
  );
  const admin = 'Admin: {Listen: 127.0.0.1:9090}\n';
  await writeFile(join(folder, 'plimsoll.yaml'), localized(xds + admin + servers));
  await answers(start(serve), `http://127.0.0.1:${ports[9090]}/readyz`);

  // admin port 0 in place of the usual one
  const envoy = start(connect.replace(' > envoy.yaml', ' --admin-port 0 > envoy.yaml'));
  const url = `http://127.0.0.1:${ports[10000]}/`;
  await answers(envoy, url);
  await envoy.stop();

  const bootstrap = await readFile(join(folder, 'envoy.yaml'), 'utf8');
  const replaced = bootstrap.replace(/^( +)tls_certificates:\n(?:\1 .*\n)+/m, (_block, indent: string) =>
    watched.replaceAll(/^(?=.)/gm, indent),
  );
  assert.notEqual(replaced, bootstrap);
  await writeFile(join(folder, 'envoy.yaml'), replaced);
  await writeFile(join(folder, 'sds.yaml'), secrets);
  await answers(start(connect.split('\n').find((line) => line.startsWith('envoy ')) ?? ''), url);
});
