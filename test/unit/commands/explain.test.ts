import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { askAdmin } from '../../../src/commands/ask-admin.ts';
import { explain } from '../../../src/commands/explain.ts';
import { explanationOf } from '../../support/explanations.ts';
import { Fleet } from '../../support/fleet.ts';

const EXPLANATION = explanationOf(new Fleet(2).step([{ running: 3 }, { running: 9 }]));

let answer: (response: ServerResponse) => void;
let asked: (string | undefined)[] = [];
let server: Server;
let admin: string;

before(async () => {
  server = createServer((request, response) => {
    asked.push(request.url);
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  admin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function says(status: number, body: unknown): (response: ServerResponse) => void {
  return (response) => response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** What the command prints, with the port left out. */
async function run(options: { group?: string; backend?: string; json?: boolean; admin?: string } = {}) {
  let out = '';
  let err = '';
  const exit = await explain(
    { group: 'llama', backend: undefined, json: false, color: false, columns: undefined, admin, ...options },
    { out: (text) => (out += text), err: (text) => (err += text) },
  );
  return { exit, out, err: err.replace(/127\.0\.0\.1:\d+/g, 'ADMIN') };
}

test('prints the explanation', async () => {
  answer = says(200, EXPLANATION);
  const { exit, out, err } = await run();
  assert.deepEqual([exit, err, asked], [0, '', ['/explain/llama']]);
  assert.match(out, /^llama: weights follow the load \(Policy Adaptive/);
  assert.match(out, /^10\.0\.3\.1:8000: HEALTHY, weight /m);
});

test('asks for one backend; names are percent-encoded; a path before and a URL without scheme are fine', async () => {
  answer = says(200, EXPLANATION);
  await run({ group: 'a/../b?c', backend: '[2001:db8::1]:8000', admin: `${admin}/behind/` });
  await run({ group: '..', admin: admin.replace('http://', '') });
  assert.deepEqual(asked, [
    '/behind/explain/a%2F..%2Fb%3Fc?backend=%5B2001%3Adb8%3A%3A1%5D%3A8000',
    '/explain/..',
  ]);
});

test('--json prints the answer', async () => {
  answer = says(200, { ...EXPLANATION, added: 'by a later version' });
  const { exit, out } = await run({ json: true });
  assert.equal(exit, 0);
  assert.deepEqual(JSON.parse(out), { ...EXPLANATION, added: 'by a later version' });
});

test('nothing that the server says reaches the terminal unescaped', async () => {
  const bad = '\u001b[2J\u202eevil';
  const { published } = EXPLANATION;
  const [first, ...others] = published.decision.backends;
  const backends = [
    { ...first, backend: bad, failure: { kind: 'status', message: bad }, sampleUse: 'worst' },
    ...others,
  ];
  const decision = { ...published.decision, warnings: [bad], backends };
  answer = says(200, {
    ...EXPLANATION,
    serverGroup: bad,
    published: { ...published, version: bad, decision },
  });
  for (const json of [false, true]) {
    const { out } = await run({ json });
    assert.match(out, /evil/);
    assert.doesNotMatch(out, /[\u001b\u202e]/);
  }
  answer = says(500, { error: bad });
  assert.match((await run()).err, /answered 500: \\u\{1b\}\[2J\\u\{202e\}evil\n$/);
});

const BROKEN_OFF = 'the connection ended before the answer did';
const BAD = 'is it a Plimsoll like this?\n';
const REFUSALS: readonly (readonly [
  name: string,
  status: number,
  body: unknown,
  exit: number,
  err: string,
])[] = [
  [
    'an unknown group',
    404,
    { error: 'no', serverGroups: ['llamas', 'mistral'] },
    64,
    'there is no server group llama, did you mean llamas? There are: llamas, mistral\n',
  ],
  [
    'a group that is not near any',
    404,
    { error: 'no', serverGroups: Array.from({ length: 12 }, (_, i) => `group-${i}`) },
    64,
    'there is no server group llama; there are: group-0, group-1, group-2, group-3, group-4, group-5, group-6, group-7, group-8, group-9 and 2 more\n',
  ],
  [
    'an unknown backend',
    404,
    { error: 'no', backends: ['10.0.3.1:8000'] },
    64,
    'server group llama has no backend 10.0.3.1:800, did you mean 10.0.3.1:8000? There are: 10.0.3.1:8000\n',
  ],
  [
    'a page that is not there',
    404,
    'Not Found',
    1,
    "http://ADMIN answered 404: that is not Plimsoll's admin address, or an older one\n",
  ],
  [
    'a group without a decision',
    503,
    { error: 'server group llama has not been evaluated yet' },
    1,
    'http://ADMIN answered 503: server group llama has not been evaluated yet\n',
  ],
  [
    'a redirect',
    302,
    '',
    1,
    "http://ADMIN answered 302: that is not Plimsoll's admin address, or an older one\n",
  ],
  [
    'HTML',
    200,
    '<html>',
    1,
    `http://ADMIN answered something else than an explanation (it must be an object): ${BAD}`,
  ],
  [
    'a field of another type',
    200,
    { ...EXPLANATION, published: { ...EXPLANATION.published, ageSeconds: '1' } },
    1,
    `http://ADMIN answered something else than an explanation (published.ageSeconds must be a number): ${BAD}`,
  ],
  [
    'a backend without its mark',
    200,
    JSON.stringify(EXPLANATION).replaceAll('"mark":null,', ''),
    1,
    `http://ADMIN answered something else than an explanation (published.decision.backends[0].mark must be an object): ${BAD}`,
  ],
];

for (const [name, status, body, exit, err] of REFUSALS) {
  test(`refused: ${name}`, async () => {
    answer = says(status, body);
    assert.deepEqual(await run({ backend: '10.0.3.1:800' }), {
      exit,
      out: '',
      err: `plimsoll explain: ${err}`,
    });
  });
}

test('nobody is there', async () => {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  const { exit, err } = await run({ admin: `http://127.0.0.1:${port}` });
  assert.deepEqual(
    [exit, err],
    [
      1,
      "plimsoll explain: http://ADMIN cannot be asked: connect ECONNREFUSED ADMIN. Plimsoll's Admin.Listen goes into --admin URL\n",
    ],
  );
});

test('an --admin that is no HTTP address is a usage error', async () => {
  for (const wrong of ['', 'http://', 'ftp://127.0.0.1', 'http://127.0.0.1:99999']) {
    const { exit, err } = await run({ admin: wrong });
    assert.deepEqual(
      [exit, err],
      [
        64,
        `plimsoll explain: --admin must be like http://127.0.0.1:9090, is ${wrong.replace('127.0.0.1:99999', 'ADMIN')}\n`.replace(
          'like http://127.0.0.1:9090',
          'like http://ADMIN',
        ),
      ],
    );
  }
});

/** Asks with limits that a test can wait for. */
async function reasonWith(limits: { milliseconds: number; bytes: number }): Promise<string> {
  const access = { url: new URL(admin), ca: undefined, token: undefined };
  const got = await askAdmin(access, '/explain/llama', limits);
  return got.kind === 'unreachable' ? got.reason : `answered ${got.status}`;
}

test('an answer that never comes, never ends, or breaks off', async () => {
  answer = () => undefined;
  assert.equal(await reasonWith({ milliseconds: 100, bytes: 1000 }), 'no whole answer within 0.1 s');
  answer = (response) => response.writeHead(200).write('{');
  assert.equal(await reasonWith({ milliseconds: 100, bytes: 1000 }), 'no whole answer within 0.1 s');
  answer = (response) => response.writeHead(200).end('x'.repeat(1001));
  assert.equal(await reasonWith({ milliseconds: 5000, bytes: 1000 }), 'the answer is longer than 1000 bytes');
  answer = (response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
  };
  assert.equal(await reasonWith({ milliseconds: 5000, bytes: 1000 }), BROKEN_OFF);
  answer = (response) => response.socket?.end('nonsense\r\n\r\n');
  assert.match(await reasonWith({ milliseconds: 5000, bytes: 1000 }), /^Parse Error/);
});
