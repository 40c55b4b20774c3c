import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearest } from '../../../src/config/nearest.ts';

const KEYS = ['Timeout', 'Interval', 'HttpMetricCollect', 'Path', 'Host', 'Port'];

test('slips and what they mean', () => {
  for (const [text, meant] of [
    ['timeout', 'Timeout'],
    ['Timout', 'Timeout'],
    ['Itnerval', 'Interval'],
    ['Intervals', 'Interval'],
    ['httpMetricsCollect', 'HttpMetricCollect'],
    ['Pth', 'Path'],
    ['Prot', 'Port'],
    ['Url', undefined],
    ['', undefined],
    ['Discovery', undefined],
  ] as const) {
    assert.equal(nearest(text, KEYS), meant, text);
  }
});

test('a candidate is its own nearest', () => {
  for (const key of KEYS) assert.equal(nearest(key, KEYS), key);
});

test('one swap of neighbours in a longer name is always found', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{6,20}$/), fc.nat(), (name, where) => {
      const at = where % (name.length - 1);
      const swapped = name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2);
      assert.equal(nearest(swapped, [name]), name);
    }),
    { seed: 3 },
  );
});

test('what is spent ends the search, whatever the candidates are like', () => {
  for (const [candidate, looks] of [
    // 10 letters by 10, and one more
    ['aaaaaaaaaa', 10],
    ['much-longer-than-the-text', 1000],
  ] as const) {
    let looked = 0;
    const endless = function* (): Generator<string> {
      for (;;) {
        looked++;
        yield candidate;
      }
    };
    assert.equal(nearest('aaaaaaaaab', endless(), { left: 1010 }), undefined);
    assert.ok(looked <= looks + 11, `${looked} looks`);
    looked = 0;
    assert.equal(nearest('aaaaaaaaaa', endless(), { left: 0 }), undefined);
    assert.equal(looked, 1);
  }
  assert.equal(nearest('Pth', KEYS, { left: 1000 }), 'Path');
});
