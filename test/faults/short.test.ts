import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { builtPlimsoll } from '../bench/routing/built-plimsoll.ts';
import { ROWS } from './rows/all.ts';
import { runRows } from './run-rows.ts';

describe('faults that nothing may make worse', () => {
  test('the short form of the table holds', async (t) => {
    const rows = ROWS.filter(({ short }) => short === true);
    const played = await runRows({ rows, program: builtPlimsoll(), signal: t.signal });
    const broken = played.filter((one) => one.broken.length > 0);
    assert.deepEqual(
      broken.map(({ row, broken: rules }) => `${row.part}: ${row.name}: ${rules.join('; ')}`),
      [],
    );
    assert.equal(played.length, rows.length);
  });
});
