import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Row } from '../../faults/model.ts';
import { keyOf, publish } from '../../faults/published.ts';
import { ROWS } from '../../faults/rows/all.ts';

const PAGE = readFileSync(new URL('../../../deploy/faults.md', import.meta.url), 'utf8');

function row(name: string): Row {
  return {
    part: 'operator',
    name,
    happens: `${name} happens`,
    faultsOwn: 'none',
    fault: () => ({ targets: [], apply: () => Promise.resolve(), undo: () => Promise.resolve() }),
    holdSeconds: 1,
    recover: { withinSeconds: 3 },
  };
}

test('every fault stands in the published table, and holds there', () => {
  for (const one of ROWS) {
    const line = PAGE.split('\n').find((text) => text.startsWith(`| ${keyOf(one)} | `));
    assert.ok(line !== undefined, `deploy/faults.md has no line for ${one.part}: ${one.name}`);
    assert.doesNotMatch(line, /not held/);
  }
});

test('the names of faults are unique', () => {
  const names = ROWS.map(({ part, name }) => `${part}: ${name}`);
  assert.equal(new Set(names).size, names.length);
});

test('played rows get their lines in the order of the table, others keep theirs, and those that are no more go', () => {
  const [first, second, third] = [row('first'), row('second'), row('third')];
  const failed = { row: first, measured: undefined, broken: ['a rule'] };
  const page = PAGE.slice(0, PAGE.indexOf('| **'));
  const before = publish(
    page,
    [second, third],
    [
      { ...failed, row: third },
      { ...failed, row: second },
    ],
  );
  const after = publish(before, [first, second], [failed]);
  const lines = after.split('\n').filter((line) => line.startsWith('| **'));
  assert.deepEqual(lines, [
    '| **operator: first.** First happens. | not held | | | |',
    '| **operator: second.** Second happens. | not held | | | |',
  ]);
  assert.throws(() => publish('no table', [first], [failed]), /no line \| fault/);
});
