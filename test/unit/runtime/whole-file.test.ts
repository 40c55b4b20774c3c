import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type FilePlace,
  NOWHERE,
  placeOf,
  type SeenFile,
  wholeFile,
} from '../../../src/runtime/whole-file.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const STANDS_MS = 100;
const WAITS_MAX = 5;

const at = (path: string, inode: string, isWrittenLast: boolean): FilePlace => ({
  path,
  inode,
  isWrittenLast,
});
const seen = (digest: string, place: FilePlace): SeenFile => ({ digest, place });

/** What comes of looks that see this one after the other, the last one for ever, and how often it waited. */
async function outcome(
  before: { readonly digest: string | undefined; readonly place: FilePlace },
  ...looks: readonly [SeenFile, ...SeenFile[]]
): Promise<readonly [digest: string | undefined, waits: number]> {
  const clock = new FakeClock();
  let next = 0;
  const whole = wholeFile({
    look: () => Promise.resolve(looks[Math.min(next++, looks.length - 1)]!),
    before,
    standsMs: STANDS_MS,
    waitsMax: WAITS_MAX,
    clock,
    signal: new AbortController().signal,
  });
  await clock.advance(STANDS_MS * (WAITS_MAX + 1));
  assert.equal(clock.pending, 0);
  return [(await whole)?.digest, next - 1];
}

const WRITTEN = at('/a', '1', true);
const RENAMED = at('/a', '2', false);
const LINKED = at('/b', '3', true);

for (const [name, before, now, waits] of [
  ['written in place', at('/a', '1', false), WRITTEN, 1],
  ['written in place, and its mode changed after that', WRITTEN, at('/a', '1', false), 1],
  ['created anew', at('/a', '0', true), WRITTEN, 1],
  ['created where nothing was', NOWHERE, WRITTEN, 1],
  ['gone', WRITTEN, NOWHERE, 1],
  ['renamed over another', WRITTEN, RENAMED, 0],
  ['renamed to where nothing was', NOWHERE, RENAMED, 0],
  ['the new target of a link', WRITTEN, LINKED, 0],
] as const) {
  test(`a file that is ${name} is ${waits === 0 ? 'taken at once' : 'waited for'}`, async () => {
    const known = { digest: 'old', place: before };
    assert.deepEqual(await outcome(known, seen('new', now)), ['new', waits]);
    assert.deepEqual(await outcome(known, seen('old', now)), ['old', 0]);
  });
}

test('it is waited for until it has said the same for the time, or is put there whole, but not for ever', async () => {
  const before = { digest: undefined, place: NOWHERE };
  const writes = (...texts: readonly string[]) =>
    texts.map((text) => seen(text, WRITTEN)) as unknown as readonly [SeenFile, ...SeenFile[]];
  assert.deepEqual(await outcome(before, ...writes('a', 'ab', 'abc')), ['abc', 3]);
  assert.deepEqual(await outcome(before, ...writes('a', 'ab'), seen('other', RENAMED)), ['other', 2]);
  assert.deepEqual(await outcome(before, ...writes('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')), [
    'f',
    WAITS_MAX,
  ]);
});

test('a wait that is ended gives nothing, and what cannot be looked at is told', async () => {
  const clock = new FakeClock();
  const end = new AbortController();
  const options = {
    before: { digest: undefined, place: NOWHERE },
    standsMs: STANDS_MS,
    waitsMax: WAITS_MAX,
    clock,
    signal: end.signal,
  };
  const whole = wholeFile({ ...options, look: () => Promise.resolve(seen('a', WRITTEN)) });
  await clock.advance(STANDS_MS - 1);
  end.abort();
  assert.equal(await whole, undefined);
  assert.equal(clock.pending, 0);
  await assert.rejects(wholeFile({ ...options, look: () => Promise.reject(new Error('no')) }), /no/);
});

test('where a file is: by its inode, the end of its links, and what happened to it last', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-whole-'));
  try {
    const [file, other, link] = ['file', 'other', 'link'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    assert.deepEqual(await placeOf(file), NOWHERE);
    await writeFile(file, 'a');
    await symlink('file', link);
    const written = await placeOf(file);
    assert.equal(written.isWrittenLast, true);
    assert.deepEqual(await placeOf(link), written);
    // a file system's clock may stand still for some milliseconds
    const renamed = await waitFor('another time', async () => {
      await rename(file, other);
      await rename(other, file);
      const place = await placeOf(file);
      return !place.isWrittenLast && place;
    });
    assert.deepEqual(renamed, { ...written, isWrittenLast: false });
  } finally {
    await rm(folder, { recursive: true });
  }
});
