import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, figure, operand, percent, plural } from '../../../../src/admin/words/figures.ts';

function all<T>(write: (value: T) => string, cases: readonly (readonly [T, string])[]): void {
  assert.deepEqual(
    cases.map(([value]) => write(value)),
    cases.map(([, text]) => text),
  );
}

test('figures have four significant digits, integers all of theirs', () => {
  all(figure, [
    [0, '0'],
    [1, '1'],
    [0.641_249, '0.6412'],
    [-3.590_42, '-3.59'],
    [0.000_012_345, '0.00001234'],
    [1e-9, '0'],
    [38.5, '38.5'],
    [1234, '1,234'],
    [9999.6, '10,000'],
    [144_985, '144,985'],
    [1_234_567.8, '1,234,568'],
    [-1234.5, '-1,235'],
  ]);
});

test('an operand is in brackets when it is negative', () => {
  all(operand, [
    [0.5, '0.5'],
    [-0.5, '(-0.5)'],
  ]);
});

test('shares in per cent, small ones too', () => {
  all(percent, [
    [0, '0 %'],
    [1, '100 %'],
    [0.1239, '12.4 %'],
    [0.006_64, '0.66 %'],
    [0.000_021, '0.0021 %'],
    [1e-16, '0 %'],
  ]);
});

test('durations', () => {
  all(duration, [
    [0, '0 ms'],
    [0.0004, '0 ms'],
    [0.041, '41 ms'],
    [0.25, '0.3 s'],
    [12.34, '12.3 s'],
    [200, '3 min 20 s'],
    [7500, '2 h 5 min'],
  ]);
});

test('one is not many', () => {
  assert.deepEqual(
    [1, 2, 1000].map((count) => plural(count, 'collection')),
    ['1 collection', '2 collections', '1,000 collections'],
  );
});
