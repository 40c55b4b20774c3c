import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { AccessSource } from '../../../../src/discovery/kubernetes/access.ts';
import { Reflector } from '../../../../src/discovery/kubernetes/reflector.ts';
import { textOf } from '../../../../src/discovery/kubernetes/json.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openWatch, play, RecordedApi, recordedEvents, reply } from '../../../support/recorded-api.ts';
import { waitFor } from '../../../support/wait-for.ts';

const RESOURCE = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices', namespace: 'prod' };
const PLURAL = RESOURCE.plural;

describe('the objects of a list, followed', () => {
  let api: RecordedApi;
  let clock: FakeClock;
  let end: AbortController;
  let running: Promise<void>;
  /** Names and versions that were told, and reasons. */
  let told: string[];
  let access: AccessSource;
  beforeEach(async () => {
    api = await RecordedApi.start();
    clock = new FakeClock();
    end = new AbortController();
    told = [];
    const url = new URL(api.url);
    const none = { ca: undefined, cert: undefined, key: undefined, serverName: undefined, token: undefined };
    access = () => Promise.resolve({ url, insecure: false, ...none });
    running = Promise.resolve();
  });
  afterEach(async () => {
    end.abort();
    await running;
    assert.equal(clock.pending, 0, 'timers that are left');
    await api.stop();
  });

  function run(random = 0, weigh = 1): void {
    const reflector = new Reflector({
      wanted: {
        resource: RESOURCE,
        selector: { labelSelector: 'a=b,c=d' },
        pageSize: 7,
        keep: (object) => textOf(object, 'metadata', 'resourceVersion') ?? '',
        weigh: () => weigh,
      },
      access: (isRefused, signal) => access(isRefused, signal),
      clock,
      random: () => random,
      observer: {
        changed: (objects) => told.push([...objects].map((entry) => entry.join('@')).join(' ') || 'none'),
        failed: (reason) => told.push(reason),
      },
    });
    running = reflector.run(end.signal);
  }

  /** Time goes on until it is so, 100 ms with every look. */
  function until(what: string, probe: () => boolean): Promise<boolean> {
    return waitFor(what, async () => {
      if (probe()) return true;
      await clock.advance(100);
      return probe();
    });
  }

  const watched = (): Promise<boolean> => until('a watch', () => api.isWatched(PLURAL));
  const listed = (version: string, ...names: readonly string[]) =>
    reply(200, JSON.stringify(listOf(version, '', ...names)));

  test('a list, then its changes; a watch that ends is taken up where it was', async () => {
    api.on(`list ${PLURAL}`, play('slices list'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    assert.deepEqual(told, ['llama-a@199']);
    const { query } = api.requests[0]!;
    assert.equal(query.get('labelSelector'), 'a=b,c=d');
    assert.equal(query.get('limit'), '7');
    api.send(PLURAL, ...recordedEvents('slices watch'));
    await until('changes', () => told.length === 2);
    assert.equal(told[1], 'llama-a@203', 'a crowd of changes is told once');
    await clock.advance(10_000);
    api.on(`list ${PLURAL}`, listed('210'));
    api.end(PLURAL);
    await until('another watch', () => api.asked(PLURAL).length === 4);
    assert.deepEqual(api.asked(PLURAL), ['list', 'watch from 201', 'list one', 'watch from 204']);
    assert.equal(told.length, 2);
    const asked = api.requests[1]!.query;
    assert.equal(asked.get('allowWatchBookmarks'), 'true');
    assert.equal(asked.get('timeoutSeconds'), '600');
  });

  test('nothing is told before the last page, and a page that fails drops those before', async () => {
    const page = (next: string, name: string) => reply(200, JSON.stringify(listOf('5', next, name)));
    api.on(`list ${PLURAL}`, page('more', 'a'), reply(500, '{}'), page('more', 'b'), page('', 'c'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    assert.deepEqual(told, [
      'cannot list endpointslices.discovery.k8s.io in namespace prod: the API server answers 500',
      'b@1 c@1',
    ]);
    assert.deepEqual(
      api.requests.slice(0, 4).map(({ query }) => query.get('continue')),
      [null, 'more', null, 'more'],
    );
  });

  test('a version that is too old (410) makes a new list, and is no failure', async () => {
    api.on(`list ${PLURAL}`, play('slices list'), listed('300', 'new'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    await clock.advance(10_000);
    api.send(PLURAL, ...recordedEvents('slices watch: too old'));
    await until('a new list', () => told.length === 2);
    assert.deepEqual(told, ['llama-a@199', 'new@1']);
    await until('a watch of it', () => api.asked(PLURAL).at(-1) === 'watch from 300');
    assert.deepEqual(api.asked(PLURAL), ['list', 'watch from 201', 'list', 'watch from 300']);
  });

  test('410 as the answer itself, too, again and again: a reason is told, and it does not spin', async () => {
    api.on(`list ${PLURAL}`, listed('1'));
    api.on(`watch ${PLURAL}`, reply(410, '{}'));
    run();
    await until('a reason', () => told.some((text) => text.includes('410')));
    assert.equal(api.asked(PLURAL).length, 6);
    assert.ok(clock.now() >= 1_500, `${clock.now()} ms`);
  });

  test('a watch that is cut in the middle of an event: the half is dropped', async () => {
    api.on(`list ${PLURAL}`, play('slices list'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    const [added = {}, modified] = recordedEvents('slices watch');
    api.send(PLURAL, added);
    api.sendText(PLURAL, JSON.stringify(modified).slice(0, 300));
    await until('the first change', () => told.length === 2);
    await clock.advance(10_000);
    api.on(`list ${PLURAL}`, listed('202'));
    api.cut(PLURAL);
    await until('another watch', () => api.asked(PLURAL).at(-1) === 'watch from 202');
    assert.deepEqual(told, ['llama-a@199', 'llama-a@199 llama-b@202']);
  });

  test('events in pieces of any size', async () => {
    api.on(`list ${PLURAL}`, play('slices list'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    const text = recordedEvents('slices watch')
      .map((event) => `${JSON.stringify(event)}\n`)
      .join('\n');
    for (let at = 0; at < text.length; at += 97) api.sendText(PLURAL, text.slice(at, at + 97));
    await until('changes', () => told.at(-1) === 'llama-a@203');
  });

  test('a watch without a word for 90 s hangs: it is taken up anew', async () => {
    api.on(`list ${PLURAL}`, play('slices list'), listed('201'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    await clock.advance(60_000);
    api.send(PLURAL, ...recordedEvents('slices watch'));
    await until('changes', () => told.length === 2);
    await clock.advance(89_000);
    assert.equal(api.asked(PLURAL).length, 2);
    api.on(`list ${PLURAL}`, listed('204'));
    await clock.advance(1_000);
    await until('another watch', () => api.asked(PLURAL).at(-1) === 'watch from 204');
    assert.equal(told.length, 2);
  });

  test('an answer that does not come within 30 s is a failure', async () => {
    run();
    await until('a request', () => api.requests.length === 1);
    await clock.advance(30_000);
    await until('a reason', () => told.length === 1);
    assert.match(told[0]!, /^cannot list endpointslices.*: 127\.0\.0\.1:\d+: nothing came for 30 s$/);
  });

  test('what is no event ends the watch with a reason and begins with a list', async () => {
    const [added] = recordedEvents('slices watch');
    const garbage = [
      ['{"type":', /something that is no JSON/],
      ['{"type":"ADDED","object":{}}', /an event without a version/],
      ['{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}', /an object without a name/],
      [JSON.stringify(added).replace('ADDED', 'RENAMED'), /an event of a type that there is not/],
      ['{"type":"ERROR","object":{"code":500,"message":"etcd\\u0007 is gone"}}', /500: etcd\\u\{7\} is gone/],
      ['[[]]', /an event without a version/],
      ['null', /an event without a version/],
    ] as const;
    api.on(`list ${PLURAL}`, play('slices list'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    for (const [text, reason] of garbage) {
      await watched();
      await clock.advance(10_000);
      const before = told.length;
      api.sendText(PLURAL, `${text}\n`);
      await until('a reason', () => reason.test(told[before] ?? ''));
      await until('a new list', () => told[before + 1] === 'llama-a@199');
    }
    assert.ok(!api.asked(PLURAL).includes('list one'));
  });

  test('a list that is none', async () => {
    api.on(
      `list ${PLURAL}`,
      reply(200, 'hello'),
      reply(200, '[]'),
      reply(200, '{"metadata":{"resourceVersion":"1"}}'),
    );
    run();
    await until('reasons', () => told.length === 3);
    assert.match(told[0]!, /answers something that is no JSON$/);
    assert.match(told[1]!, /answers something that is no list$/);
    assert.match(told[2]!, /answers something that is no list$/);
  });

  test('waits double up to half a minute; a random half of them is cut', async () => {
    for (const [random, expected] of [
      [0, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]],
      [0.5, [375, 750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500]],
    ] as const) {
      told = [];
      api.on(`list ${PLURAL}`, reply(503, ''));
      run(random);
      await until('the first attempt', () => told.length === 1);
      for (const wait of expected) {
        const before = told.length;
        const requests = api.requests.length;
        await clock.advance(wait - 20);
        assert.equal(api.requests.length, requests, `an attempt before ${wait} ms`);
        await until('another attempt', () => told.length > before);
      }
      end.abort();
      await running;
      end = new AbortController();
    }
  });

  test('a server that asks to wait is heard, within a minute', async () => {
    for (const [seconds, wait] of [
      ['7', 7_000],
      ['99999', 60_000],
    ] as const) {
      told = [];
      api.on(`list ${PLURAL}`, reply(429, '', { 'retry-after': seconds }));
      run();
      await until('a reason', () => told.length === 1);
      const requests = api.requests.length;
      await clock.advance(wait - 100);
      assert.equal(api.requests.length, requests);
      await until('another attempt', () => api.requests.length > requests);
      end.abort();
      await running;
      end = new AbortController();
    }
  });

  test('watches that end at once: it waits, and from the third on says so, until one stands', async () => {
    api.on(`list ${PLURAL}`, listed('1'));
    api.on(`watch ${PLURAL}`, reply(200, ''));
    run();
    await until('a reason', () => told.length === 2);
    assert.deepEqual(told, [
      'none',
      `the watch of endpointslices.discovery.k8s.io in namespace prod ends again and again`,
    ]);
    assert.equal(api.asked(PLURAL).filter((asked) => asked.startsWith('watch')).length, 3);
    api.on(`watch ${PLURAL}`, openWatch);
    await until('all is well again', () => told.length === 3);
    assert.equal(told[2], 'none');
  });

  test('a server with an older state than before is asked for a list', async () => {
    api.on(`list ${PLURAL}`, play('slices list'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    await clock.advance(10_000);
    api.on(`list ${PLURAL}`, listed('12', 'older'));
    api.end(PLURAL);
    await until('the older state', () => told.at(-1) === 'older@1');
    await until('a watch of it', () => api.asked(PLURAL).at(-1) === 'watch from 12');
    assert.deepEqual(api.asked(PLURAL).slice(2), ['list one', 'list', 'watch from 12']);
  });

  test('a list is asked for once an hour whatever the watches say', async () => {
    api.on(`list ${PLURAL}`, listed('1'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    for (let n = 1; n <= 41; n++) {
      const version = String(n);
      api.send(PLURAL, { type: 'MODIFIED', object: { metadata: { name: 'a', resourceVersion: version } } });
      await until('the change', () => told.at(-1) === `a@${version}`);
      await clock.advance(88_000);
    }
    api.on(`list ${PLURAL}`, listed('99', 'unnoticed'));
    api.end(PLURAL);
    await until('a list', () => told.at(-1) === 'unnoticed@1');
  });

  test('more objects than fit are refused, in a list and in a watch', async () => {
    api.on(`list ${PLURAL}`, listed('1', 'a', 'b'));
    run(0, 30_000);
    await until('a reason', () => told.length === 1);
    assert.match(told[0]!, /^more than 50000 backends in endpointslices/);
    api.on(`list ${PLURAL}`, listed('1', 'a'));
    api.on(`watch ${PLURAL}`, openWatch);
    await watched();
    assert.equal(told.at(-1), 'a@1');
    api.send(PLURAL, { type: 'ADDED', object: { metadata: { name: 'b', resourceVersion: '2' } } });
    await until('a reason', () => told.length > 2);
    assert.match(told.at(-1)!, /^more than 50000 backends/);
  });

  test('an event that is too big', async () => {
    api.on(`list ${PLURAL}`, listed('1'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    api.sendText(PLURAL, 'x'.repeat(9 * 1024 * 1024));
    await until('a reason', () => told.length > 1);
    assert.match(told[1]!, /answers an event of more than 8388608 bytes/);
  });

  test('after a failure the list is told again as soon as it is followed', async () => {
    api.on(`list ${PLURAL}`, listed('1', 'a'));
    api.on(`watch ${PLURAL}`, openWatch);
    run();
    await watched();
    const good = access;
    access = () => Promise.reject(new Error('no token'));
    await clock.advance(10_000);
    api.cut(PLURAL);
    await until('a reason', () => told.length === 2);
    assert.equal(told[1], 'cannot read endpointslices.discovery.k8s.io in namespace prod: no token');
    access = good;
    await until('the list', () => told.at(-1) === 'a@1');
  });

  test('it ends at any time', async () => {
    run();
    await until('a request', () => api.requests.length === 1);
    end.abort();
    await running;
    assert.deepEqual(told, []);
  });
});

function listOf(version: string, next: string, ...names: readonly string[]): unknown {
  return {
    metadata: { resourceVersion: version, continue: next },
    items: names.map((name) => ({ metadata: { name, resourceVersion: '1' } })),
  };
}
