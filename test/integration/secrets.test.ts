import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { App } from '../../src/app.ts';
import { probe } from '../../src/commands/probe.ts';
import { validate } from '../../src/commands/validate.ts';
import { formatMistake, loadConfiguration } from '../../src/config/load.ts';
import type { Configuration } from '../../src/core/model/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Cleanups } from '../support/cleanups.ts';
import { TestCa } from '../support/pki.ts';
import { RawServer, response } from '../support/raw-server.ts';
import { waitFor } from '../support/wait-for.ts';

/** Every secret has it, and no output may. */
const SECRET = 's3cr3t';
const PAGE = 'vllm:num_requests_waiting 1\nvllm:num_requests_running 1\nvllm:kv_cache_usage_perc 0.5\n';

let folder: string;
let plain: RawServer;
let secure: RawServer;
let refusing: RawServer;
/** They answer with what they were asked. */
let echoes: readonly RawServer[];
let app: App;
const cleanups = new Cleanups();
let key: string;
const log: string[] = [];

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-outputs-'));
  folder = await cleanups.own(made, (path) => rm(path, { recursive: true }));
  const ca = await TestCa.create();
  const own = await ca.issue({ usage: 'client' });
  ({ key } = own);
  await writeFile(file('ca.crt'), ca.cert);
  await writeFile(file('own.crt'), own.cert);
  await writeFile(file('own.key'), key);
  await writeFile(file('half.key'), key.slice(0, 100));
  await writeFile(file('token'), `${SECRET}-token`);
  await writeFile(file('good'), `${SECRET}-token`);
  await writeFile(file('bad'), `${SECRET}\n${SECRET}`);
  plain = await started((socket) => socket.write(response(PAGE)));
  secure = await started((socket) => socket.write(response(PAGE)), '127.0.0.1', {
    ...(await ca.issue({ ip: ['127.0.0.1'] })),
    ca: ca.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  refusing = await started((socket) => socket.write(response('', ['location: /login'], '302 Found')));
  const token = (head: string): string => /^authorization: (.*)$/im.exec(head)?.[1] ?? '';
  echoes = await Promise.all([
    started((socket, head) => socket.write(response(JSON.stringify({ authorization: token(head) })))),
    started((socket, head) => socket.write(response('', [`content-type: text/html; a=${token(head)}`]))),
  ]);
  await writeFile(file('plimsoll.yaml'), yaml());
});

after(() => cleanups.run());

function started(...how: Parameters<typeof RawServer.start>): Promise<RawServer> {
  return cleanups.own(RawServer.start(...how), (server) => server.stop());
}

function file(name: string): string {
  return join(folder, name);
}

/** A group for each way of collecting, of one backend. */
function yaml(): string {
  const inline = `Headers: {Authorization: "Basic ${SECRET}-basic", X-Key: {File: ${file('token')}}}`;
  const tls = (keyFile: string) =>
    `Scheme: https, Tls: {CaFile: ${file('ca.crt')}, CertFile: ${file('own.crt')}, KeyFile: ${file(keyFile)}}`;
  const token = `BearerTokenFile: ${file('token')}`;
  const groups: readonly (readonly [name: string, server: RawServer, http: string])[] = [
    ['plain', plain, inline],
    ['secure', secure, `${token}, Headers: {X-Key: ${SECRET}-value}, ${tls('own.key')}`],
    ['refused', refusing, token],
    ['no-certificate', secure, `${token}, Scheme: https, Tls: {CaFile: ${file('ca.crt')}}`],
    ['wrong-scheme', plain, `${token}, ${tls('own.key')}`],
    ...echoes.map((server, index) => [`echo-${index}`, server, token] as const),
    ['bad-token', plain, `BearerTokenFile: ${file('bad')}`],
    ['bad-key', secure, `${inline}, ${tls('half.key')}`],
  ];
  return `Xds: {Listen: 127.0.0.1:0, DrainSeconds: 0.1}
Admin: {Listen: 127.0.0.1:0}
ServerGroups:
${groups.map(([name, { backend }]) => `  - {Name: ${name}, ServiceExtension: ${name}, Servers: [{Address: 127.0.0.1, Port: ${backend.port}}]}`).join('\n')}
ServiceExtensions:
${groups
  .map(
    ([name, , http]) => `  - Name: ${name}
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector: {Timeout: 1, IntervalMilliseconds: 200, HttpMetricCollect: {Path: /metrics, ${http}}}
          Scheduler: {Scorers: [{Name: TotalQueuedRequests, Weight: 1}]}`,
  )
  .join('\n')}
`;
}

async function load(): Promise<Configuration> {
  const loaded = await loadConfiguration(file('plimsoll.yaml'));
  if (loaded.kind === 'valid') return loaded.configuration;
  return assert.fail(loaded.mistakes.map(formatMistake).join('\n'));
}

/** Neither a header's value nor a part of a key. */
function assertNoSecret(what: string, text: string): void {
  assert.ok(text.length > 0, `${what} says something`);
  assert.ok(!text.includes(SECRET), `${what}: ${text}`);
  for (const line of key.split('\n').filter((one) => one.length > 20 && !one.startsWith('-----'))) {
    assert.ok(!text.includes(line), `${what}: ${text}`);
  }
}

test('the log, the metrics and explain of a running control plane', async () => {
  app = new App({
    configuration: await load(),
    clock: systemClock,
    log: pino({ base: null, level: 'trace' }, { write: (line) => log.push(line) }),
  });
  const { admin } = await cleanups.own(app.start(), () => app.stop(AbortSignal.abort()));
  const get = async (path: string): Promise<string> => {
    const { body } = await request(`http://127.0.0.1:${admin.port}${path}`);
    return body.text();
  };
  const ends = {
    plain: '"sample"',
    secure: '"sample"',
    refused: 'status 302',
    'no-certificate': '"failure"',
    'wrong-scheme': 'no TLS',
    'echo-0': 'not metrics',
    'echo-1': 'not metrics',
    'bad-token': 'BearerTokenFile',
    'bad-key': 'Tls.KeyFile',
  };
  for (const [name, end] of Object.entries(ends)) {
    const page = await waitFor(`${end} in the explanation of ${name}`, async () => {
      const text = await get(`/explain/${name}`);
      return text.includes(end) && text;
    });
    assertNoSecret(`/explain/${name}`, page);
  }
  assert.ok(plain.requests.some((head) => head.includes(`Authorization: Basic ${SECRET}-basic`)));
  assert.ok(secure.requests.some((head) => head.includes(`authorization: Bearer ${SECRET}-token`)));
  for (const path of ['/metrics', '/explain', '/healthz', '/readyz']) assertNoSecret(path, await get(path));
  await writeFile(file('plimsoll.yaml'), yaml().replaceAll(`${SECRET}-value`, `${SECRET}-other`));
  app.reload(await load());
  await writeFile(file('token'), `${SECRET}\n${SECRET}`);
  await waitFor('the new token is refused', () => log.some((line) => line.includes('file is refused')));
  assertNoSecret('/metrics', await get('/metrics'));
  assertNoSecret('the log', log.join(''));
  const engines = log.filter((line) => line.includes('"serverGroup":"plain"') && line.includes('engines'));
  assert.equal(engines.length, 1);
  assert.match(engines[0] ?? '', /"engines":\{"Vllm":1\}/);
});

test('validate, as YAML and as JSON, and its mistakes', async () => {
  for (const [text, code] of [
    [yaml(), 0],
    [yaml().replaceAll('Authorization:', 'Host:').replaceAll('X-Key', 'X Key'), 64],
  ] as const) {
    await writeFile(file('plimsoll.yaml'), text);
    for (const json of [true, false]) {
      let printed = '';
      const add = (more: string): void => {
        printed += more;
      };
      assert.equal(await validate({ config: file('plimsoll.yaml'), json }, { out: add, err: add }), code);
      assertNoSecret('validate', printed);
    }
  }
});

test('probe', async () => {
  for (const server of [plain, refusing, ...echoes]) {
    for (const json of [true, false]) {
      let printed = '';
      const add = (more: string): void => {
        printed += more;
      };
      const flags = {
        url: `http://${server.backend.id}/metrics`,
        engine: 'Auto',
        interval: 1,
        timeout: 1,
        header: [`X-Key: ${SECRET}`],
        bearerTokenFile: file('good'),
        insecure: false,
        json,
      };
      await probe(flags, { out: add, err: add });
      assertNoSecret('probe', printed);
    }
  }
});
