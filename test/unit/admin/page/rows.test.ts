import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { filterRows } from '../../../../src/admin/page/filter-rows.ts';
import { type Row, rowsOf } from '../../../../src/admin/page/rows.ts';
import { inOrder, nextSorting, SORT_KEYS, sortRows } from '../../../../src/admin/page/sort-rows.ts';
import type { BackendRow } from '../../../../src/admin/state-shape.ts';
import { healthyRow, NOW, scriptedGroup } from '../../../support/scripted-state.ts';

const ROWS: readonly BackendRow[] = [
  healthyRow(5),
  ['UNHEALTHY', 'saturated: 14 queued', 9_544, 0, 12, 14, 60, 0.93, 0.2, 'fresh', 0, null, null],
  ['HEALTHY', 'no answer', 80_000, 0.1, 40, 2, 30, 0.5, 40, 'worst', 40, 'Connection refused', NOW - 800],
  [null, 'configured weight 0: takes no traffic', 0, 0, null, null, null, null, null, 'aside', 3, null, null],
  ['HEALTHY', null, 100_000, 0.2, 90, 3, null, 0.2, 0.1, 'fresh', 0, 'status 500', NOW - 60_000],
];
const group = scriptedGroup('llama', 12, { evaluatedAt: NOW - 500 });
const rows = rowsOf({ ...group, rows: [...ROWS, ...group.rows.slice(ROWS.length)] }, NOW);
const places = (of: readonly Row[]) => of.map(({ index }) => index);

describe('rows', () => {
  test('have a state in one word, requests inside, and ages as of now', () => {
    assert.deepEqual(
      rows.slice(0, 5).map(({ state }) => state),
      ['healthy', 'unhealthy', 'silent', 'out', 'healthy'],
    );
    assert.deepEqual(
      rows.slice(0, 5).map(({ inside }) => inside),
      [5, 74, 32, null, 3],
    );
    assert.equal(rows[2]?.sampleAgeSeconds, 40.5);
    assert.equal(rows[2]?.failedSecondsAgo, 0.8);
    assert.equal(rows[3]?.sampleAgeSeconds, null);
    assert.deepEqual(rowsOf({ ...group, rows: [], evaluatedAt: null }, NOW), []);
  });
});

describe('sorting', () => {
  test('by what is known; the unknown comes last both ways', () => {
    assert.deepEqual(
      places(sortRows(rows.slice(0, 5), { key: 'inside', descending: true })),
      [1, 2, 0, 4, 3],
    );
    assert.deepEqual(
      places(sortRows(rows.slice(0, 5), { key: 'inside', descending: false })),
      [4, 0, 2, 1, 3],
    );
  });

  test('by state: what needs attention first', () => {
    assert.deepEqual(
      places(sortRows(rows.slice(0, 5), { key: 'health', descending: false })),
      [1, 2, 3, 0, 4],
    );
  });

  test('by name: numbers in it as numbers', () => {
    const sorted = sortRows(rows, { key: 'backend', descending: false });
    assert.deepEqual(sorted.map(({ id }) => id).slice(0, 3), [
      '10.0.0.1:8000',
      '10.0.0.2:8000',
      '10.0.0.3:8000',
    ]);
    assert.equal(sorted.at(-1)?.id, '10.0.0.12:8000');
  });

  test('by any key loses nobody, and equal ones stay in the order of the configuration', () => {
    for (const key of SORT_KEYS) {
      for (const descending of [false, true]) {
        assert.deepEqual(
          places(sortRows(rows, { key, descending })).toSorted((a, b) => a - b),
          places(rows),
          key,
        );
      }
    }
    const same = rowsOf(scriptedGroup('llama', 4, { rows: Array(4).fill(healthyRow(1)) }), NOW);
    assert.deepEqual(places(sortRows(same, { key: 'inside', descending: true })), [0, 1, 2, 3]);
  });

  test('a second click turns it round; another column begins with the most, names with the least', () => {
    assert.deepEqual(nextSorting({ key: 'queued', descending: true }, 'queued'), {
      key: 'queued',
      descending: false,
    });
    assert.deepEqual(nextSorting({ key: 'queued', descending: true }, 'share'), {
      key: 'share',
      descending: true,
    });
    assert.deepEqual(nextSorting({ key: 'queued', descending: true }, 'backend'), {
      key: 'backend',
      descending: false,
    });
  });

  test('an order can be kept: who is new comes last', () => {
    const ids = ['10.0.0.3:8000', '10.0.0.1:8000', 'gone'];
    assert.deepEqual(places(inOrder(rows.slice(0, 4), ids)), [2, 0, 1, 3]);
  });
});

describe('a filter', () => {
  const found = (text: string) => places(filterRows(rows.slice(0, 5), text));

  test('finds every word of it, in any case, in name, state, reason and failure', () => {
    assert.deepEqual(found(''), [0, 1, 2, 3, 4]);
    assert.deepEqual(found('REFUSED'), [2]);
    assert.deepEqual(found(' 10.0.0 queued '), [1]);
    assert.deepEqual(found('queued refused'), []);
    assert.deepEqual(found('silent'), [2]);
    assert.deepEqual(found('status 500'), [4]);
  });

  test('takes healthy and out for the state alone', () => {
    assert.deepEqual(found('healthy'), [0, 4]);
    assert.deepEqual(found('unhealthy'), [1]);
    assert.deepEqual(found('out'), [3]);
  });
});
