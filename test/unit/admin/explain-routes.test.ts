import assert from 'node:assert/strict';
import { request as rawRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import type { GroupExplanation, GroupListExplanation } from '../../../src/admin/explanation.ts';
import { explainGroup } from '../../../src/admin/explain.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import type { DiscoveryStatus } from '../../../src/core/model/discovery.ts';
import type { GroupStatus } from '../../../src/core/model/group-status.ts';
import { adminServer } from '../../support/admin-server.ts';
import { backend } from '../../support/decisions.ts';
import { Fleet } from '../../support/fleet.ts';

const decision = new Fleet([backend(1), backend(2), backend(2, { port: 8001 })]).step([
  { running: 1 },
  {},
  {},
]);
const LONG = '🚢'.repeat(128);
const NAMES = ['large', 'llama', 'outbound|8000||llama.svc', 'a/b?c=d', '..', LONG, '<script>', 'waiting'];

const WAITING: DiscoveryStatus = {
  source: 'file /list.yaml',
  list: undefined,
  failure: undefined,
  waiting: 'no answer yet',
  leftOut: [],
  doubted: [],
  draining: [],
};

const server = adminServer({
  explain: {
    groups: () => NAMES,
    status: (serverGroup) => {
      if (serverGroup === 'large') return large;
      return serverGroup === 'waiting' ? undefined : statusOf({ ...decision, serverGroup });
    },
    discovery: (serverGroup) => (serverGroup === 'waiting' ? WAITING : undefined),
    now: () => decision.atMs + 500,
    openStreams: () => 3,
  },
});
let origin: string;
/** Of the group `large`. */
let large: GroupStatus | undefined;

function statusOf(newest: GroupDecision): GroupStatus {
  const published = { decision: newest, version: 'v1', atMs: newest.atMs, firstAcknowledgedAtMs: undefined };
  return { newest, published, streams: { following: 2, current: 1 } };
}

before(async () => {
  const { host, port } = await server.listen();
  origin = `http://${host}:${port}`;
});
after(() => server.stop());

/** The path goes out as it is. */
function get(path: string, method = 'GET'): Promise<{ status: number; type: unknown; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sent = rawRequest({ hostname, port, path, method, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'], text });
      });
    });
    sent.once('error', reject).end();
  });
}

test('/explain lists the groups with what /state warns of, also those that have no decision yet', async () => {
  const { status, text } = await get('/explain');
  const { serverGroups } = JSON.parse(text) as GroupListExplanation;
  assert.equal(status, 200);
  assert.deepEqual(serverGroups[1], { serverGroup: 'llama', mode: 'balanced', backends: 3, warnings: 0 });
  assert.deepEqual(serverGroups.at(-1), { serverGroup: 'waiting', mode: null, backends: 0, warnings: 1 });
});

for (const name of NAMES.slice(1, -1)) {
  test(`/explain/${name.slice(0, 30)} explains the group, percent-encoded`, async () => {
    const { status, type, text } = await get(`/explain/${encodeURIComponent(name)}`);
    assert.deepEqual([status, type], [200, 'application/json; charset=utf-8']);
    const { serverGroup, published, newest, xdsStreams } = JSON.parse(text) as GroupExplanation;
    assert.deepEqual([serverGroup, published.version, published.ageSeconds, newest], [name, 'v1', 0.5, null]);
    assert.deepEqual(xdsStreams, { open: 3, following: 2, current: 1 });
    assert.equal(published.decision.backends.length, 3);
  });
}

test('the answer is the whole explanation, however large, with a newer evaluation and without', async () => {
  const servers = Array.from({ length: 300 }, (_, i) => backend(0, { address: `10.1.${i >> 8}.${i & 255}` }));
  for (const [mode, newer] of [
    ['Active', false],
    ['Active', true],
    ['Observe', true],
  ] as const) {
    const fleet = new Fleet(servers, { mode });
    const [first, second] = [1, 2].map((finished) =>
      fleet.step(servers.map((_, i) => ({ running: 5 + (i % 2) * finished, finished }))),
    );
    assert.ok(first !== undefined && second !== undefined);
    large = { ...statusOf(first), newest: newer ? second : first };
    const expected = explainGroup({
      status: large,
      nowMs: decision.atMs + 500,
      openStreams: 3,
      wanted: () => true,
    });
    const { text } = await get('/explain/large');
    assert.ok(text.length > 200_000, `${text.length} characters`);
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(expected)));
    if (mode === 'Observe') {
      const { published } = JSON.parse(text) as GroupExplanation;
      assert.equal(published.decision.backends[1]?.sample?.runningRequests, 7, 'the newest sample');
    }
  }
});

const BACKENDS: readonly (readonly [string, readonly string[]])[] = [
  ['10.0.3.1:8000', ['10.0.3.1:8000']],
  ['10.0.3.2:8001', ['10.0.3.2:8001']],
  ['10.0.3.2', ['10.0.3.2:8000', '10.0.3.2:8001']],
];
for (const [name, ids] of BACKENDS) {
  test(`?backend=${name} tells of ${ids.length}`, async () => {
    const { text } = await get(`/explain/llama?backend=${encodeURIComponent(name)}`);
    const { published } = JSON.parse(text) as GroupExplanation;
    assert.deepEqual(
      published.decision.backends.map((of) => of.backend),
      ids,
    );
  });
}

test('an unknown group: 404 with those there are', async () => {
  const { status, text } = await get('/explain/lama%1B%5B2J');
  assert.deepEqual(
    [status, JSON.parse(text)],
    [404, { error: 'there is no server group lama\\u{1b}[2J', serverGroups: NAMES }],
  );
});

test('an unknown backend: 404 with those there are', async () => {
  const { status, text } = await get('/explain/llama?backend=10.0.3.9');
  assert.deepEqual(
    [status, JSON.parse(text)],
    [
      404,
      {
        error: 'server group llama has no backend 10.0.3.9',
        backends: ['10.0.3.1:8000', '10.0.3.2:8000', '10.0.3.2:8001'],
      },
    ],
  );
});

test('a group without a decision: 503', async () => {
  const { status, text } = await get('/explain/waiting');
  assert.deepEqual(
    [status, JSON.parse(text)],
    [
      503,
      {
        error:
          'server group waiting has not been evaluated yet, it waits for discovery: file /list.yaml: no answer yet',
      },
    ],
  );
});

test('odd requests are answered in the 4xx', async () => {
  for (const [path, status] of [
    ['/explain/llama?backend=a&backend=b', 400],
    ['/explain/%E0%A4%A', 400],
    ['/explain/llama/', 404],
    ['/explain/llama/10.0.3.1:8000', 404],
    [`/explain/${'a'.repeat(10_000)}`, 414],
    ['/explain/__proto__', 404],
  ] as const) {
    assert.equal((await get(path)).status, status, path);
  }
});

test('HEAD is answered like GET, without the body; POST is not there', async () => {
  const head = await request(`${origin}/explain/llama`, { method: 'HEAD' });
  assert.equal(head.statusCode, 200);
  assert.equal(head.headers['cache-control'], 'no-store');
  assert.equal(await head.body.text(), '');
  assert.equal((await get('/explain/llama', 'POST')).status, 405);
});
