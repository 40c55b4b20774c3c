import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lengthDelimited, WireReader } from '../../../src/xds/wire.ts';

/** Walks over all fields and returns what is wrong. */
function walk(bytes: readonly number[], visit: (reader: WireReader) => void): string | undefined {
  const reader = new WireReader(Buffer.from(bytes));
  while (reader.next()) visit(reader);
  return reader.failure;
}

const skip = (reader: WireReader): void => {
  reader.skip();
};
const text = (reader: WireReader): void => {
  reader.string();
};

test('every wire type is passed over', () => {
  const fields: number[] = [];
  const bytes = [8, 0x96, 1, 17, 1, 2, 3, 4, 5, 6, 7, 8, 26, 2, 104, 105, 37, 1, 2, 3, 4];
  const failure = walk(bytes, (reader) => {
    fields.push(reader.field);
    reader.skip();
  });
  assert.equal(failure, undefined);
  assert.deepEqual(fields, [1, 2, 3, 4]);
});

const malformed: readonly [what: string, bytes: readonly number[], visit: typeof skip, failure: string][] = [
  ['a tag that is cut', [0x80], skip, 'it ends within a number'],
  ['field number 0', [0x02, 0], skip, '2 is no field tag'],
  ['a tag beyond 32 bits', [0x8a, 0x80, 0x80, 0x80, 0x10], skip, '4294967306 is no field tag'],
  ['a number of 11 bytes', [8, ...Array<number>(11).fill(0x80), 0], skip, 'a number is longer than 10 bytes'],
  ['a length beyond the end', [10, 3, 97, 98], text, 'field 1 is longer than the message'],
  ['a length near 2^64', [10, ...Array<number>(9).fill(0xff), 1], skip, 'field 1 is longer than the message'],
  ['a cut fixed64', [9, 1, 2, 3], skip, 'field 1 is longer than the message'],
  ['a cut fixed32', [13, 1], skip, 'field 1 is longer than the message'],
  ['a group', [11, 12], skip, 'field 1 has the wire type 3'],
  ['a number in place of a text', [8, 1], text, 'field 1 has no length'],
  ['text that is not UTF-8', [10, 1, 0xff], text, 'field 1 is not UTF-8'],
];
for (const [what, bytes, visit, failure] of malformed) {
  test(`malformed: ${what}`, () => {
    assert.equal(walk(bytes, visit), failure);
  });
}

test('a text may hold the character that stands for what cannot be decoded', () => {
  const reader = new WireReader(Buffer.from([10, 3, ...Buffer.from('\ufffd')]));
  reader.next();
  assert.equal(reader.string(), '\ufffd');
  assert.equal(reader.failure, undefined);
});

test('a text in place of a number is a fault', () => {
  assert.equal(
    walk([10, 1, 97], (reader) => reader.int32()),
    'field 1 is no number',
  );
});

test('a fault in a nested message is a fault of the outer one', () => {
  const failure = walk([18, 2, 10, 5], (reader) =>
    reader.message((nested) => {
      while (nested.next()) nested.skip();
    }),
  );
  assert.equal(failure, 'field 2: field 1 is longer than the message');
});

test('a nested message cannot read beyond its end', () => {
  const failure = walk([10, 2, 10, 1, 97], (reader) =>
    reader.message((nested) => {
      while (nested.next()) nested.string();
    }),
  );
  assert.equal(failure, 'field 1: field 1 is longer than the message');
});

test('a negative number keeps its sign', () => {
  const numbers: number[] = [];
  walk([8, ...Array<number>(9).fill(0xff), 1, 8, 0xff, 0xff, 0xff, 0xff, 7], (reader) =>
    numbers.push(reader.int32()),
  );
  assert.deepEqual(numbers, [-1, 2147483647]);
});

test('a text is cut by bytes', () => {
  let cut = '';
  walk([10, 4, 97, 0xc3, 0xa4, 98], (reader) => {
    cut = reader.textCutAt(2);
  });
  assert.equal(cut, 'a\ufffd');
});

test('no bytes make the reader throw or go on for ever', () => {
  const visits = [skip, text, (reader: WireReader) => reader.message((nested) => nested.next())];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(2), (bytes, which) => {
      let fields = 0;
      walk([...bytes], (reader) => {
        fields++;
        visits[which]?.(reader);
      });
      assert.ok(fields <= bytes.length);
    }),
    { seed: 20, numRuns: 2000 },
  );
});

test('what is written is read back, whatever its length', () => {
  for (const length of [0, 1, 127, 128, 16_383, 16_384, 300_000]) {
    const content = 'x'.repeat(length);
    const reader = new WireReader(Buffer.concat([...lengthDelimited(7, content)]));
    assert.equal(reader.next(), true);
    assert.equal(reader.field, 7);
    assert.equal(reader.string(), content);
    assert.equal(reader.next(), false);
    assert.equal(reader.failure, undefined);
  }
});
