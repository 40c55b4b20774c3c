import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readList } from '../../../src/config/parsed-list.ts';
import { parseServerList } from '../../../src/config/server-list.ts';

const item = (n: number): string =>
  `- {Address: 10.1.${n >> 8}.${n & 255}, Port: 8000}\n${n % 7 === 0 ? '# a word\n' : ''}`;
const LARGE = Array.from({ length: 1000 }, (_, n) => item(n)).join('');

/** What is read, how often the parser was asked, and for how many characters each time. */
async function read(text: string) {
  const lengths: number[] = [];
  const list = await readList(text, (piece) => {
    lengths.push(piece.length);
    return parseServerList(piece, 'list.yaml');
  });
  return { list, pieces: lengths.length, lengths };
}

for (const [name, text] of [
  ['as it is', LARGE],
  ['after a mark and a comment', `---\n# fleet\n${LARGE}`],
  ['with items over several lines', LARGE.replaceAll(', Port', ',\n   Port')],
  ['of blocks', LARGE.replaceAll(/\{(Address: \S+), (Port: \d+)\}/g, '$1\n  $2')],
  ['with signs that are no anchors', `# a & b\n${LARGE.replaceAll('# a word', '# 2*a a&b')}`],
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

test('mistakes in a large list are told with their lines, and it is read in pieces all the same', async () => {
  const twice = '- {Address: 10.0.0.1,\n   Port: 1,\n   Port: 2}\n';
  const { list, lengths } = await read(`${LARGE}- {Address: 10.0.0.1, Port: 0}\n${LARGE}${twice}${LARGE}`);
  assert.ok(list.kind === 'invalid' && list.more === 1);
  const lines = LARGE.split('\n').length - 1;
  assert.deepEqual(
    list.mistakes.map(({ line, path, message }) => [line, path, message.replace(/.*(?=first)/, '')]),
    [[lines + 1, '[1000].Port', 'is 0, but must be an integer 1..65535']],
  );
  assert.ok(Math.max(...lengths) < LARGE.length, lengths.join());
  const later = (await read(`${LARGE}${LARGE}${twice}${LARGE}`)).list;
  assert.ok(later.kind === 'invalid' && later.more === 0);
  const [{ line, path, message } = assert.fail()] = later.mistakes;
  assert.deepEqual([line, path], [2 * lines + 3, '[2000].Port']);
  assert.match(message, new RegExp(`first in line ${2 * lines + 2}$`));
});

test('a large list of nothing but mistakes is read once, and its first piece with them twice', async () => {
  const good = await read(`${LARGE}${LARGE}`);
  const { list, pieces } = await read(`${LARGE}${LARGE.replaceAll('Port: 8000', 'Port: 0')}`);
  assert.ok(list.kind === 'invalid');
  assert.equal(list.mistakes.length + list.more, 1000);
  assert.equal(list.mistakes[0]?.path, '[1000].Port');
  assert.equal(pieces, good.pieces + 1);
});

test('where no list comes after many blank lines, that is seen soon', async () => {
  for (const line of ['\n', ' \t\n', '---\n', '#\n', '\r\n']) {
    const { list } = await read(`${line.repeat(200)}a: ${'b'.repeat(20_000)}`);
    assert.equal(list.kind, 'invalid');
  }
});

test('a large list with line ends of Windows is read in pieces', async () => {
  const { list, pieces } = await read(`# fleet\n\n${LARGE}`.replaceAll('\n', '\r\n'));
  assert.ok(list.kind === 'list' && list.items.length === 1000 && pieces > 2);
});

test('two documents are a mistake, however large', async () => {
  assert.equal((await read(`${LARGE}---\n${LARGE}`)).list.kind, 'invalid');
});
