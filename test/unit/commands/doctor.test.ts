import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { doctor, type DoctorOptions } from '../../../src/commands/doctor.ts';
import { doctorText } from '../../../src/commands/doctor-text.ts';
import type { State } from '../../../src/admin/state-shape.ts';
import { type DumpParts, envoyPages } from '../../support/envoy-pages.ts';
import { scriptedGroup, scriptedSidecar, scriptedState } from '../../support/scripted-state.ts';

/** By path, without the query. */
let answers: Readonly<Record<string, unknown>> = {};
let asked: string[] = [];
let server: Server;
let address = '';

before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const body = answers[(request.url ?? '').split('?')[0] ?? ''];
    if (body === undefined) response.writeHead(404).end('none');
    else if (typeof body === 'number')
      response.writeHead(body, { location: `http://${address}/other` }).end();
    else response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function envoyAnswers(change?: (parts: DumpParts) => void): void {
  const { dump, clusters, stats, server: info } = envoyPages(change);
  answers = { '/config_dump': dump, '/clusters': clusters, '/stats': stats, '/server_info': info };
}

/** What the command prints, with the port left out. */
async function run(options: Partial<DoctorOptions> = {}) {
  let out = '';
  let err = '';
  const exit = await doctor(
    { envoyAdmin: `http://${address}`, admin: [], json: false, color: false, ...options },
    { out: (text) => (out += text), err: (text) => (err += text) },
  );
  const hidden = (text: string) => text.replaceAll(address, 'ENVOY');
  return { exit, out: hidden(out), err: hidden(err) };
}

test('an Envoy that is right: exit code 0', async () => {
  envoyAnswers();
  const { exit, out, err } = await run();
  assert.deepEqual([exit, err], [0, '']);
  assert.match(out, /^Envoy at http:\/\/ENVOY, node sidecar\n✓ version: 1\.40\.0\n/);
  assert.match(out, /\n\ncluster llama\n/);
  assert.match(out, /\n\nAll \d+ are right\.\n$/);
  assert.deepEqual(
    asked.map((path) => path.split('&')[0]),
    ['/config_dump', '/server_info', '/clusters?format=json', '/stats?format=json'],
  );
});

test('warnings alone: exit code 0', async () => {
  envoyAnswers(({ server: info }) => (info['state'] = 'DRAINING'));
  const { exit, out } = await run();
  assert.equal(exit, 0);
  assert.match(out, /\n0 errors, 1 warning, \d+ right\n$/);
});

test('--json: an error, with its place and how to mend it; exit code 1', async () => {
  envoyAnswers(({ cluster }) => delete cluster['common_lb_config']);
  const { exit, out } = await run({ json: true });
  assert.equal(exit, 1);
  const { envoy, findings, counts } = JSON.parse(out) as Record<string, unknown> & { findings: object[] };
  assert.deepEqual(envoy, { url: 'http://ENVOY', version: '1.40.0', node: 'sidecar' });
  assert.deepEqual(counts, { ok: findings.length - 2, warning: 1, error: 1 });
  assert.deepEqual(
    findings.find((finding) => 'severity' in finding && finding.severity === 'error'),
    {
      severity: 'error',
      check: 'healthy_panic_threshold',
      is: 'not set, so 50 %',
      shouldBe: '0 %',
      why: 'Once less than 50 % are healthy Envoy sends requests to all, also the saturated ones, and there is no 503.',
      mend: { into: 'cluster', yaml: 'common_lb_config:\n  healthy_panic_threshold:\n    value: 0\n' },
      places: [{ cluster: 'llama' }],
      morePlaces: 0,
    },
  );
});

test('nothing that Envoy says reaches the terminal unescaped', async () => {
  const bad = '\u001b[2J\u202eevil';
  envoyAnswers(({ cluster, manager, host, route, server: info }) => {
    cluster['lb_policy'] = bad;
    manager['stream_idle_timeout'] = '1s';
    host['name'] = bad;
    info['node'] = { id: bad };
    (route['route'] as Record<string, unknown>)['retry_policy'] = { retry_on: `5xx,${bad}` };
  });
  for (const json of [false, true]) {
    const { out } = await run({ json });
    assert.match(out, /evil/);
    assert.doesNotMatch(out, /[\u001b\u202e]/);
  }
});

const BAD: readonly (readonly [name: string, options: Partial<DoctorOptions>, err: RegExp])[] = [
  [
    'no URL',
    { envoyAdmin: 'ftp://x' },
    /^plimsoll doctor: --envoy-admin must be like http:.* is ftp:\/\/x\n$/,
  ],
  ['another no URL', { admin: ['http://'] }, /^plimsoll doctor: --admin must be like /],
  ['a token for nobody', { bearerTokenFile: 'x' }, /--ca and --bearer-token-file are for --admin URL\n$/],
];

for (const [name, options, expected] of BAD) {
  test(`a usage error: ${name}`, async () => {
    const { exit, out, err } = await run(options);
    assert.deepEqual([exit, out], [64, '']);
    assert.match(err, expected);
  });
}

describe('nobody to ask', () => {
  test('no Envoy', async () => {
    const { exit, out, err } = await run({ envoyAdmin: await closedAddress() });
    assert.deepEqual([exit, out], [1, '']);
    assert.match(err, /cannot be asked: connect ECONNREFUSED .* goes into --envoy-admin URL\n$/);
  });

  test('something else than an Envoy', async () => {
    answers = {};
    assert.match((await run()).err, /answered 404 for \/config_dump: is it an Envoy's admin address\?\n$/);
    answers = { '/config_dump': '<html>' };
    const { exit, err } = await run();
    assert.equal(exit, 1);
    assert.match(err, /answered something else than a configuration for \/config_dump: is it/);
  });

  test('a login in front of it: a redirect is not followed', async () => {
    for (const status of [302, 401]) {
      answers = { '/config_dump': status };
      asked = [];
      assert.match((await run()).err, new RegExp(`answered ${status} for /config_dump: is it`));
      assert.deepEqual(asked, ['/config_dump']);
    }
  });

  test('no Plimsoll: an error, and Envoy is looked at all the same', async () => {
    envoyAnswers();
    const { exit, out } = await run({ admin: [await closedAddress()] });
    assert.equal(exit, 1);
    assert.match(
      out,
      /^✗ plimsoll: http:\S+ cannot be asked: connect ECONNREFUSED \S+\n +Plimsoll's Admin\.Listen goes into --admin URL\. Versions, /m,
    );
    assert.match(out, /^✓ healthy_panic_threshold: 0 %$/m);
    const { out: other } = await run({ admin: [`http://${address}`] });
    assert.match(other, /^✗ plimsoll: http:\/\/ENVOY answered 404: that is not Plimsoll's admin address/m);
  });
});

describe('two replicas', () => {
  /** Of one with this version, and a sidecar of that node, if any, which has that one or another. */
  function stateOf(version: string, node?: string, has = version): State {
    const published = { version, at: 1, reason: null, firstAcknowledgementSeconds: null };
    const groups = [{ name: 'llama', version: has, behindSince: null }];
    const sidecars = node === undefined ? [] : [scriptedSidecar(node, { groups })];
    const { sidecars: others, ...state } = scriptedState([scriptedGroup('llama', 1, { published })]);
    return { ...state, sidecars: { ...others, shown: sidecars } };
  }

  async function ask(...replicas: readonly ('a' | 'b')[]) {
    const { exit, out } = await run({ admin: replicas.map((name) => `http://${address}/${name}`) });
    return { exit, version: /^.*version_text: .*$/m.exec(out)?.[0] };
  }

  test('the one that serves the sidecar is compared, whatever the others have', async () => {
    envoyAnswers();
    answers = { ...answers, '/a/state': stateOf('v1', 'sidecar'), '/b/state': stateOf('v2', 'another') };
    for (const replicas of [['a'], ['a', 'b'], ['b', 'a']] as const) {
      assert.deepEqual(await ask(...replicas), { exit: 0, version: '✓ version_text: v1, as published' });
    }
    const { exit, version } = await ask('b');
    assert.equal(exit, 0);
    assert.match(version ?? '', /^✓ version_text: v1, not compared: /);
  });

  test('a sidecar that is behind where it is served is an error, though another one has its version', async () => {
    envoyAnswers();
    answers = { ...answers, '/a/state': stateOf('v2', 'sidecar', 'v1'), '/b/state': stateOf('v1') };
    assert.deepEqual(await ask('b', 'a'), { exit: 1, version: '✗ version_text: v1; should be v2' });
  });

  test('another sidecar with the same node id is none that is compared', async () => {
    envoyAnswers();
    answers = { ...answers, '/a/state': stateOf('v3', 'sidecar', 'v2') };
    assert.match((await ask('a')).version ?? '', /^✓ version_text: v1, not compared: /);
  });

  test('one that does not answer is an error, and the other one is asked all the same', async () => {
    envoyAnswers();
    answers = { ...answers, '/a/state': stateOf('v1', 'sidecar') };
    const { exit, out } = await run({ admin: [`http://${address}/a`, `http://${address}/b`] });
    assert.equal(exit, 1);
    assert.match(out, /^✗ plimsoll: http:\/\/ENVOY\/b answered 404/m);
    assert.match(out, /^✓ version_text: v1, as published$/m);
  });
});

async function closedAddress(): Promise<string> {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  return `http://127.0.0.1:${port}`;
}

test('the text: a snippet once, places, colours', () => {
  const mend = { into: 'route' as const, yaml: 'route:\n  timeout: 0s\n' };
  const at = (route: string) => ({ cluster: 'llama', listener: 'l', route });
  const fault = { severity: 'error' as const, is: 'bad', shouldBe: 'good', why: 'It breaks.', mend };
  const findings = [
    { ...fault, check: 'a', places: [at('1'), at('2'), at('3')], morePlaces: 4 },
    { ...fault, check: 'b', places: [at('1')], morePlaces: 0 },
    { severity: 'ok' as const, check: 'c', is: 'fine', places: [{ cluster: 'llama' }], morePlaces: 0 },
  ];
  const report = { envoy: { url: 'http://e', version: null, node: null }, findings };
  assert.equal(
    doctorText(report, { color: false }),
    `cluster llama
✗ a: bad (listener l, route 1; listener l, route 2; and 5 more); should be good
    It breaks.
    In the route:
        route:
          timeout: 0s
✗ b: bad (listener l, route 1); should be good
    It breaks.
    Mend it as above.
✓ c: fine

2 errors, 0 warnings, 1 right
`,
  );
  assert.match(
    doctorText(report, { color: true }),
    /^\u001b\[1mcluster llama\u001b\[0m\n\u001b\[31m✗\u001b\[0m a: bad/,
  );
});
