import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  number,
  percent,
  pointsWithInterval,
  ratio,
  ratioWithInterval,
  seconds,
} from '../../../bench/routing/numerals.ts';

test('figures with the digits that count', () => {
  assert.deepEqual([0, 0.0321, 0.0996, 0.447, 9.94, 15.12, 120.4].map(seconds), [
    '0',
    '0.032',
    '0.10',
    '0.45',
    '9.94',
    '15.1',
    '120',
  ]);
  assert.deepEqual([0.974, 1, 0].map(percent), ['97.4', '100.0', '0.0']);
  assert.deepEqual([0.615, 12.345, 120.4].map(ratio), ['0.61', '12.35', '120']);
});

test('no minus before nothing, and what is no number is said', () => {
  assert.equal(number(-0.0004, 2), '0.00');
  assert.equal(number(-0.4, 0), '0');
  assert.equal(number(-0.5, 1), '-0.5');
  assert.deepEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map(ratio), [
    '∞',
    '-∞',
    '–',
  ]);
});

test('intervals', () => {
  const estimate = { value: 0.5, interval: { low: 0.25, high: Number.POSITIVE_INFINITY } };
  assert.equal(ratioWithInterval(estimate), '0.50 (0.25 to ∞)');
  assert.equal(ratioWithInterval({ value: 0.5 }), '0.50');
  const difference = { value: -0.01, interval: { low: -0.02, high: 0.001 } };
  assert.equal(pointsWithInterval(difference), '-1.0 (-2.0 to 0.1) points');
});
