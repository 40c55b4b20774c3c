import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { SidecarStream } from '../../../src/admin/sidecar-survey.ts';
import { Sidecars } from '../../../src/admin/sidecars.ts';
import type { SidecarsState } from '../../../src/admin/state-shape.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';

const { endpoint: EDS, cluster: CDS, listener: LDS } = TYPE_URLS;

let nowMs: number;
let sidecars: Sidecars;

beforeEach(() => {
  nowMs = 1_000;
  sidecars = new Sidecars(() => nowMs);
});

function join(peer: string, change: Partial<SidecarStream> = {}): object {
  const stream = { of: peer };
  sidecars.joined(stream, {
    node: 'sidecar',
    cluster: 'c',
    zone: '',
    identity: '10.9.0.1',
    peer,
    kind: 'ads',
    ...change,
  });
  return stream;
}

function take(stream: object, version: string, group = 'llama'): void {
  sidecars.acknowledged(stream, EDS, new Map([[group, version]]));
}

const state = (): SidecarsState => sidecars.state((atMs) => atMs);

test('streams of one connection are one sidecar, also where several say that they are the same node', () => {
  const [cds, eds] = [join('10.9.0.1:1', { kind: 'cds' }), join('10.9.0.1:1', { kind: 'eds' })];
  join('10.9.0.2:1');
  assert.deepEqual([state().total, state().streams], [2, 3]);
  assert.deepEqual(
    state().shown.map(({ peer, streams }) => [peer, streams]),
    [
      ['10.9.0.1:1', ['cds', 'eds']],
      ['10.9.0.2:1', ['ads']],
    ],
  );
  sidecars.left(cds);
  sidecars.left(cds);
  assert.deepEqual([state().total, state().streams], [2, 2]);
  sidecars.left(eds);
  assert.equal(state().total, 1);
});

test('behind: since a newer version was published, and not before it had 5 s', () => {
  sidecars.published('llama', 'v1');
  const [fast, slow] = [join('10.9.0.1:1'), join('10.9.0.2:1')];
  for (const stream of [fast, slow]) take(stream, 'v1');
  nowMs = 10_000;
  sidecars.published('llama', 'v2');
  take(fast, 'v2');
  nowMs = 14_000;
  assert.equal(state().behind, 0);
  sidecars.published('llama', 'v3');
  take(fast, 'v3');
  nowMs = 15_000;
  assert.equal(state().behind, 1);
  const [first] = state().shown;
  assert.deepEqual(
    [first?.peer, first?.groups],
    ['10.9.0.2:1', [{ name: 'llama', version: 'v1', behindSince: 10_000 }]],
  );
  assert.equal(
    sidecars.warnings()[0]?.text,
    '1 of 2 sidecars has been behind for 5 s: it goes on with older weights',
  );
  nowMs = 40_000;
  assert.match(sidecars.warnings()[0]?.text ?? '', /^1 of 2 sidecars has been behind for 30 s: it goes on/);
  take(slow, 'v3');
  assert.deepEqual([state().behind, sidecars.warnings()], [0, []]);
});

test('lost while behind: told for 5 minutes, or until it is back; one that was current is not told of', () => {
  sidecars.published('llama', 'v1');
  const [current, frozen] = [join('10.9.0.1:1', { node: 'a' }), join('10.9.0.2:1', { node: 'b' })];
  for (const stream of [current, frozen]) take(stream, 'v1');
  nowMs = 10_000;
  sidecars.published('llama', 'v2');
  take(current, 'v2');
  nowMs = 32_000;
  for (const stream of [current, frozen]) sidecars.left(stream);
  const { total, behind, gone } = state();
  assert.deepEqual([total, behind], [0, 0]);
  const expected = { node: 'b', cluster: 'c', identity: '10.9.0.1', peer: '10.9.0.2:1' };
  assert.deepEqual(gone, [{ ...expected, at: 32_000, behindSince: 10_000 }]);
  nowMs = 52_000;
  assert.equal(
    sidecars.warnings()[0]?.text,
    'a sidecar was lost 20 s ago while it was behind (b, 10.9.0.2:1): if it still runs, it goes on with older weights',
  );
  nowMs = 32_000 + 5 * 60_000;
  assert.deepEqual([state().gone, sidecars.warnings()], [[], []]);
  const again = join('10.9.0.2:2', { node: 'b' });
  take(again, 'v1');
  sidecars.left(again);
  assert.deepEqual([state().gone.length, sidecars.lost], [1, 2]);
  join('10.9.0.2:3', { node: 'b' });
  assert.deepEqual(state().gone, []);
});

test('of those that were lost 100 are known, however many they are', () => {
  sidecars.published('llama', 'v1');
  const streams = Array.from({ length: 150 }, (_, i) => join(`10.9.0.2:${i}`, { node: `node-${i}` }));
  for (const stream of streams) take(stream, 'v1');
  sidecars.published('llama', 'v2');
  nowMs = 20_000;
  for (const stream of streams) sidecars.left(stream);
  assert.deepEqual([sidecars.lost, sidecars.gone.length, sidecars.gone[0]?.of.node], [150, 100, 'node-149']);
  assert.match(sidecars.warnings()[0]?.text ?? '', /^100 sidecars were lost while they were behind/);
});

test('a version that is published again is current again', () => {
  sidecars.published('llama', 'v1');
  const stream = join('10.9.0.1:1');
  take(stream, 'v1');
  sidecars.published('llama', 'v2');
  sidecars.published('llama', 'v1');
  nowMs = 60_000;
  assert.equal(state().behind, 0);
  for (let i = 3; i < 200; i++) sidecars.published('llama', `v${i}`);
  sidecars.published('llama', 'v1');
  nowMs = 120_000;
  assert.equal(state().behind, 0, 'however many came in between');
});

test('a refusal stays until the same type is taken', () => {
  const stream = join('10.9.0.1:1');
  sidecars.rejected(stream, EDS, 'llama', 'no');
  take(stream, 'v1');
  assert.equal(state().shown[0]?.nack, null);
  sidecars.rejected(stream, CDS, 'llama', 'no');
  take(stream, 'v1');
  assert.deepEqual(state().shown[0]?.nack, { at: 1000, type: 'Cluster', names: 'llama', reason: 'no' });
  assert.match(sidecars.warnings()[0]?.text ?? '', /^1 of 1 sidecars refuses what it is sent: no$/);
  assert.equal(state().refusing, 1);
});

test('a refusal ends with its stream, and no other one does', () => {
  const [lds, eds] = [join('10.9.0.1:1', { kind: 'lds' }), join('10.9.0.1:1', { kind: 'eds' })];
  sidecars.rejected(lds, LDS, 'one', 'no such port');
  nowMs += 1_000;
  sidecars.rejected(eds, EDS, 'llama', 'no');
  assert.equal(state().shown[0]?.nack?.reason, 'no');
  sidecars.left(eds);
  nowMs += 1_000;
  assert.deepEqual([state().refusing, state().shown[0]?.nack?.reason], [1, 'no such port']);
  sidecars.left(lds);
  assert.equal(state().refusing, 0);
});

test('a stream that ended while behind and came back is no reason to call a sidecar lost that has all', () => {
  const [cds, first] = [join('10.9.0.1:1', { kind: 'cds' }), join('10.9.0.1:1', { kind: 'eds' })];
  sidecars.published('llama', 'v1');
  take(first, 'v1');
  sidecars.published('llama', 'v2');
  nowMs += 10_000;
  sidecars.left(first);
  nowMs += 300;
  const second = join('10.9.0.1:1', { kind: 'eds' });
  take(second, 'v2');
  nowMs += 300;
  sidecars.left(second);
  sidecars.left(cds);
  assert.equal(sidecars.lost, 0);
});

test('of many only some are shown: those that are behind, then those that refuse', () => {
  sidecars.published('llama', 'v1');
  const streams = Array.from({ length: 250 }, (_, i) =>
    join(`10.9.1.${i}:1`, { node: `node-${String(i).padStart(3, '0')}` }),
  );
  for (const stream of streams) take(stream, 'v1');
  nowMs = 10_000;
  sidecars.published('llama', 'v2');
  for (const stream of streams.slice(0, 240)) take(stream, 'v2');
  sidecars.rejected(streams[7] as object, EDS, 'llama', 'no');
  nowMs = 20_000;
  const { total, behind, shown } = state();
  assert.deepEqual([total, behind, shown.length], [250, 10, 100]);
  assert.ok(shown.slice(0, 10).every(({ groups }) => groups[0]?.behindSince === 10_000));
  assert.deepEqual([shown[10]?.node, shown[11]?.node], ['node-007', 'node-000']);
});

test('of many groups only some are shown; one that is gone is forgotten', () => {
  const stream = join('10.9.0.1:1');
  for (let i = 0; i < 30; i++) {
    sidecars.published(`g${i}`, 'v1');
    take(stream, 'v1', `g${i}`);
  }
  take(stream, 'v1', 'unheard of');
  assert.deepEqual([state().shown[0]?.groups.length, state().shown[0]?.moreGroups], [20, 10]);
  for (let i = 0; i < 29; i++) sidecars.forget(`g${i}`);
  assert.deepEqual(
    state().shown[0]?.groups.map(({ name }) => name),
    ['g29'],
  );
});

test('a sidecar of a zone with an assignment of its own is behind by that one, others by theirs', () => {
  const here = join('10.0.0.1:1', { zone: 'a' });
  const there = join('10.0.0.2:1', { zone: 'b' });
  sidecars.published('llama', 'v1', new Map([['a', 'a1']]));
  sidecars.acknowledged(here, EDS, new Map([['llama', 'a1']]));
  sidecars.acknowledged(there, EDS, new Map([['llama', 'v1']]));
  sidecars.published('llama', 'v2', new Map([['a', 'a1']]));
  nowMs += 10_000;
  assert.deepEqual(
    sidecars.behind.map(({ of }) => of.zone),
    ['b'],
  );
  sidecars.acknowledged(there, EDS, new Map([['llama', 'v2']]));
  assert.equal(sidecars.counts.behind, 0);
  sidecars.published('llama', 'v2', new Map([['a', 'a2']]));
  nowMs += 10_000;
  assert.deepEqual(
    sidecars.behind.map(({ of }) => of.zone),
    ['a'],
  );
  // its zone has no assignment of its own any more
  sidecars.published('llama', 'v2');
  nowMs += 10_000;
  assert.equal(sidecars.counts.behind, 1);
  sidecars.acknowledged(here, EDS, new Map([['llama', 'v2']]));
  nowMs += 1000;
  assert.equal(sidecars.counts.behind, 0);
});

test('who asks for a group no more is not behind with it, however often it changes', () => {
  for (const group of ['llama', 'mistral']) sidecars.published(group, 'v1');
  const stream = join('10.9.0.1:1');
  take(stream, 'v1');
  take(stream, 'v1', 'mistral');
  sidecars.unsubscribed(stream, ['llama', 'unheard of']);
  sidecars.unsubscribed({}, ['mistral']);
  sidecars.published('llama', 'v2');
  nowMs = 20_000;
  assert.deepEqual([sidecars.counts.behind, sidecars.warnings()], [0, []]);
  assert.deepEqual(
    state().shown[0]?.groups.map(({ name }) => name),
    ['mistral'],
  );
  sidecars.left(stream);
  assert.equal(sidecars.lost, 0);
});

test('what a stream of several had goes with it; what another has of the same group stays', () => {
  sidecars.published('llama', 'v1');
  const peer = '10.9.0.1:1';
  const [cds, one, two] = [
    join(peer, { kind: 'cds' }),
    join(peer, { kind: 'eds' }),
    join(peer, { kind: 'eds' }),
  ];
  take(one, 'v1');
  take(two, 'v1');
  sidecars.published('llama', 'v2');
  take(two, 'v2');
  nowMs = 20_000;
  assert.deepEqual(state().shown[0]?.groups, [{ name: 'llama', version: 'v1', behindSince: 1000 }]);
  sidecars.left(one);
  assert.deepEqual(state().shown[0]?.groups, [{ name: 'llama', version: 'v2', behindSince: null }]);
  assert.equal(sidecars.counts.behind, 0);
  sidecars.left(two);
  assert.deepEqual([state().shown[0]?.groups, state().total], [[], 1]);
  nowMs = 40_000;
  sidecars.left(cds);
  assert.equal(sidecars.lost, 0, 'its last stream ended long after the one that was behind');
});

test('lost while behind: also if the stream that was behind is not the last one to end', () => {
  sidecars.published('llama', 'v1');
  const peer = '10.9.0.1:1';
  const [eds, cds] = [join(peer, { kind: 'eds' }), join(peer, { kind: 'cds' })];
  take(eds, 'v1');
  sidecars.published('llama', 'v2');
  nowMs = 20_000;
  sidecars.left(eds);
  nowMs = 20_010;
  sidecars.left(cds);
  assert.deepEqual(
    state().gone.map(({ at, behindSince }) => [at, behindSince]),
    [[20_010, 1000]],
  );
});

test('a refusal goes with the stream that it came on', () => {
  const [eds] = [join('10.9.0.1:1', { kind: 'eds' }), join('10.9.0.1:1', { kind: 'cds' })];
  sidecars.rejected(eds, EDS, 'llama', 'no');
  assert.equal(sidecars.counts.refusing, 1);
  sidecars.left(eds);
  assert.deepEqual([sidecars.counts.refusing, state().total], [0, 1]);
});
