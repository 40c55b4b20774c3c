import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readList } from '../../../src/config/parsed-list.ts';
import { parseServerList } from '../../../src/config/server-list.ts';

const item = (n: number): string =>
  `- {Address: 10.1.${n >> 8}.${n & 255}, Port: 8000}\n${n % 7 === 0 ? '# a word\n' : ''}`;
const LARGE = Array.from({ length: 1000 }, (_, n) => item(n)).join('');

/** What is read, and how often the parser was asked. */
async function read(text: string) {
  let pieces = 0;
  const list = await readList(text, (piece) => {
    pieces++;
    return parseServerList(piece, 'list.yaml');
  });
  return { list, pieces };
}

for (const [name, text] of [
  ['as it is', LARGE],
  ['after a mark and a comment', `---\n# fleet\n${LARGE}`],
  ['with items over several lines', LARGE.replaceAll(', Port', ',\n   Port')],
  ['of blocks', LARGE.replaceAll(/\{(Address: \S+), (Port: \d+)\}/g, '$1\n  $2')],
  ['with quotes', LARGE.replaceAll(/Address: (\S+),/g, 'Address: "$1",')],
] as const) {
  test(`a large list of YAML is read in pieces, ${name}`, async () => {
    const { list, pieces } = await read(text);
    assert.ok(list.kind === 'list');
    assert.deepEqual(
      list.items.map(({ Address: address }) => address),
      Array.from({ length: 1000 }, (_, n) => `10.1.${n >> 8}.${n & 255}`),
    );
    assert.ok(pieces > 2);
  });
}

for (const [name, text] of [
  ['a small one', item(1)],
  ['JSON', JSON.stringify(Array.from({ length: 1000 }, () => ({ Address: '10.0.0.1', Port: 1 })))],
  ['one with aliases', `- &a {Address: 10.0.0.1, Port: 1}\n${'- *a\n'.repeat(10_000)}`],
] as const) {
  test(`${name} is read in one go`, async () => {
    const { list, pieces } = await read(text);
    assert.deepEqual([list.kind, pieces], ['list', 1]);
  });
}

test('a mistake in a large list is told with its line', async () => {
  const { list } = await read(`${LARGE}- {Address: 10.0.0.1, Port: 0}\n`);
  assert.ok(list.kind === 'invalid');
  const [mistake] = list.mistakes;
  assert.deepEqual([mistake?.line, mistake?.path], [LARGE.split('\n').length, '[1000].Port']);
});

test('two documents are a mistake, however large', async () => {
  assert.equal((await read(`${LARGE}---\n${LARGE}`)).list.kind, 'invalid');
});
