import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Assignment } from '../../../src/core/model/assignment.ts';
import { ZoneEndpoints } from '../../../src/publish/zone-endpoints.ts';

const EDS = 'type/Endpoints';

function setUp() {
  const encoded: string[] = [];
  const zones = new ZoneEndpoints(EDS, ({ serverGroup, dropShare }) => {
    if (dropShare > 0.9) throw new Error('broken');
    const version = `${serverGroup}@${dropShare}`;
    encoded.push(version);
    return { typeUrl: EDS, name: serverGroup, version, serverGroup, bytes: Buffer.from(version) };
  });
  /** By zone: the versions of the groups there. */
  const seen = () =>
    Object.fromEntries(
      Array.from(zones.current ?? [], ([zone, types]) => [
        zone,
        Array.from(types.get(EDS)?.values() ?? [], ({ version }) => version),
      ]),
    );
  return { zones, encoded, seen };
}

/** Assignments differ by their refused share here. */
const assignment = (dropShare: number, serverGroup = 'g'): Assignment => ({
  serverGroup,
  endpoints: [],
  dropShare,
});

test('a group without zones is none of its business', () => {
  const { zones } = setUp();
  assert.deepEqual(zones.publish('g', []), { changed: false, versions: new Map() });
  assert.equal(zones.current, undefined);
});

test('each zone has its own, encoded when it is another one, and the rest stays the same object', () => {
  const { zones, encoded, seen } = setUp();
  const [a, b] = [assignment(0.1), assignment(0.2)];
  zones.publish('g', [
    { zone: 'a', assignment: a },
    { zone: 'b', assignment: b },
  ]);
  zones.publish('h', [{ zone: 'b', assignment: assignment(0.3, 'h') }]);
  assert.deepEqual(seen(), { a: ['g@0.1'], b: ['g@0.2', 'h@0.3'] });
  const before = zones.current;
  const { changed, versions } = zones.publish('g', [
    { zone: 'a', assignment: a },
    { zone: 'b', assignment: assignment(0.25) },
  ]);
  assert.equal(changed, true);
  assert.deepEqual(
    [...versions],
    [
      ['a', { version: 'g@0.1', changed: false }],
      ['b', { version: 'g@0.25', changed: true }],
    ],
  );
  assert.deepEqual(encoded, ['g@0.1', 'g@0.2', 'h@0.3', 'g@0.25']);
  assert.equal(zones.current?.get('a'), before?.get('a'));
  assert.notEqual(zones.current?.get('b'), before?.get('b'));
  // the same content in another object
  assert.equal(
    zones.publish('g', [
      { zone: 'a', assignment: assignment(0.1) },
      { zone: 'b', assignment: assignment(0.25) },
    ]).changed,
    false,
  );
});

test('zones that end, and groups that go, leave nothing behind', () => {
  const { zones, seen } = setUp();
  zones.publish('g', [
    { zone: 'a', assignment: assignment(0.1) },
    { zone: 'b', assignment: assignment(0.2) },
  ]);
  assert.equal(zones.publish('g', [{ zone: 'b', assignment: assignment(0.2) }]).changed, true);
  assert.deepEqual(seen(), { b: ['g@0.2'] });
  zones.forget('g');
  assert.equal(zones.current, undefined);
  zones.publish('g', [{ zone: 'b', assignment: assignment(0.2) }]);
  assert.equal(zones.publish('g', []).changed, true);
  assert.equal(zones.current, undefined);
});

test('what is broken in one zone is published in none', () => {
  const { zones, seen } = setUp();
  zones.publish('g', [{ zone: 'a', assignment: assignment(0.1) }]);
  assert.throws(() =>
    zones.publish('g', [
      { zone: 'a', assignment: assignment(0.2) },
      { zone: 'b', assignment: assignment(0.95) },
    ]),
  );
  assert.deepEqual(seen(), { a: ['g@0.1'] });
});
