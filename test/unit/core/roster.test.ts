import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { rosterOf } from '../../../src/core/roster.ts';
import { backend } from '../../support/decisions.ts';

const A = backend(1, { port: 9000 });
const B = backend(1, { port: 8000, weight: 50 });
const C = backend(0, { weight: 0 });
const D = backend(2, { weight: 150 });

test('backends stand by address, then port, in whatever order they are listed', () => {
  assert.deepEqual(rosterOf([A, B, C, D], undefined).backends, [C, B, A, D]);
  assert.deepEqual(rosterOf([D, C, B, A], undefined).backends, [C, B, A, D]);
});

test('positions lead from the list into the roster', () => {
  const servers = [D, A, C, B];
  const { backends, positions } = rosterOf(servers, undefined);
  assert.deepEqual(
    servers.map((_, place) => backends[positions[place] ?? -1]),
    servers,
  );
});

test('configured shares have the mean 1 over those that take traffic', () => {
  const roster = rosterOf([A, B, C, D], undefined);
  assert.equal(roster.active, 3);
  assert.deepEqual([...roster.shares], [0, 0.5, 1, 1.5]);
});

test('a group without traffic has shares of 0, and an empty one has none', () => {
  assert.deepEqual([...rosterOf([C], undefined).shares], [0]);
  assert.deepEqual([...rosterOf([], undefined).shares], []);
});

test('the same list is not sorted again', () => {
  const servers = [A, B];
  const roster = rosterOf(servers, undefined);
  assert.equal(rosterOf(servers, roster), roster);
  assert.notEqual(rosterOf([A, B], roster), roster);
});
