import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { printable } from '../../../src/runtime/text.ts';

const CASES: readonly (readonly [text: string, limit: number, shown: string])[] = [
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a\nb', 10, 'a\\u{a}b'],
  ['\u001b[31m', 20, '\\u{1b}[31m'],
  ['\u202e\ud800', 20, '\\u{202e}\\u{d800}'],
  // a pair of surrogates is one character, and is never halved
  ['🚢🚢🚢', 3, '🚢🚢🚢'],
  ['🚢🚢🚢🚢', 3, '🚢🚢…'],
  // an escape counts with all its characters, and is never halved
  ['ab\u0007', 7, 'ab\\u{7}'],
  ['ab\u0007', 6, 'ab…'],
  ['abcdefgh\u0007', 10, 'abcdefgh…'],
];

for (const [text, limit, shown] of CASES) {
  test(`${JSON.stringify(text)} in ${limit} characters`, () => assert.equal(printable(text, limit), shown));
}

test('of any text: within the limit, whole, printable, and unchanged when it is made so again', () => {
  const text = fc.string({
    unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.constant('\u0001')),
  });
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 0, max: 30 }),
      (any, limit, more) => {
        const shown = printable(any, limit);
        assert.ok(Array.from(shown).length <= limit);
        assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}]/u);
        assert.equal(printable(shown, limit + more), shown);
      },
    ),
    { seed: 5 },
  );
});
