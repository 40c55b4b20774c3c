import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FileWatch } from '../../../src/runtime/file-watch.ts';
import { namesOnTheWay } from '../../../src/runtime/names-on-the-way.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: string;
let clock: FakeClock;
let told: number;
let watch: FileWatch | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-watch-'));
  clock = new FakeClock();
  told = 0;
});

afterEach(async () => {
  watch?.close();
  watch = undefined;
  assert.equal(clock.pending, 0);
  await rm(folder, { recursive: true });
});

async function start(...paths: readonly string[]): Promise<void> {
  watch = new FileWatch({ paths: paths.map((path) => join(folder, path)), clock, onChange: () => told++ });
  await watch.settled();
  assert.equal(told, 0);
  // a change may have come before
  await looked(200);
  assert.equal(told, 1);
  told = 0;
}

/** Time passes, and at its end the way to the files is looked at. */
async function looked(milliseconds: number): Promise<void> {
  await clock.advance(milliseconds);
  await watch?.settled();
}

/** The system has told of a change: it is due after the debounce. */
async function noticed(): Promise<void> {
  const before = told;
  await waitFor('a sign of a change', () => clock.pending === 2);
  await clock.advance(199);
  assert.equal(told, before);
  await looked(1);
  assert.equal(told, before + 1);
}

/** A folder as Kubernetes mounts a secret: the files are links into a folder that a link names. */
async function mountSecret(version: string): Promise<void> {
  await mkdir(join(folder, version));
  await writeFile(join(folder, version, 'tls.crt'), version);
  await symlink(version, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

test('a file rewritten in place', async () => {
  await writeFile(join(folder, 'a'), '1');
  await start('a');
  await writeFile(join(folder, 'a'), '2');
  await noticed();
});

test('a file replaced by renaming, several times', async () => {
  await writeFile(join(folder, 'a'), '1');
  await start('a');
  for (const content of ['2', '3']) {
    await writeFile(join(folder, 'next'), content);
    await rename(join(folder, 'next'), join(folder, 'a'));
    await noticed();
  }
});

test('a file removed and back again', async () => {
  await writeFile(join(folder, 'a'), '1');
  await start('a');
  await rm(join(folder, 'a'));
  await noticed();
  await writeFile(join(folder, 'a'), '2');
  await noticed();
});

test('a mounted secret: the link to the folder of the files is swapped', async () => {
  await mountSecret('..v1');
  await symlink('..data/tls.crt', join(folder, 'tls.crt'));
  await start('tls.crt');
  for (const version of ['..v2', '..v3']) {
    await mountSecret(version);
    await noticed();
  }
});

test('the folder itself is a link that is swapped', async () => {
  await mkdir(join(folder, 'v1'));
  await mkdir(join(folder, 'v2'));
  await symlink('v1', join(folder, 'current'));
  await start('current/a');
  await symlink('v2', join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'current'));
  await noticed();
  await writeFile(join(folder, 'v2', 'a'), '1');
  await noticed();
});

test('a folder that comes later', async () => {
  await start('later/a');
  await mkdir(join(folder, 'later'));
  await noticed();
  await writeFile(join(folder, 'later', 'a'), '1');
  await noticed();
});

test('other files in the folder are none of its business', async () => {
  await writeFile(join(folder, 'a'), '1');
  await start('a');
  for (let i = 0; i < 20; i++) await writeFile(join(folder, `other-${i}`), '1');
  // the events come in order
  await writeFile(join(folder, 'a'), '2');
  await noticed();
  assert.equal(clock.pending, 1);
});

test('changes of several files within the debounce are told once', async () => {
  for (const name of ['a', 'b']) await writeFile(join(folder, name), '1');
  await start('a', 'b');
  for (const name of ['a', 'b', 'a']) await writeFile(join(folder, name), '2');
  await noticed();
  await clock.advance(1000);
  assert.equal(told, 1);
});

test('without any sign it is time every half minute', async () => {
  await start('a');
  await clock.advance(29_999);
  assert.equal(told, 0);
  await looked(1);
  await looked(30_000);
  assert.equal(told, 2);
});

test('closed, it says nothing', async () => {
  await writeFile(join(folder, 'a'), '1');
  await start('a');
  watch?.close();
  await writeFile(join(folder, 'a'), '2');
  await clock.advance(60_000);
  assert.equal(told, 0);
});

test('links that lead in a circle end somewhere', async () => {
  await symlink('b', join(folder, 'a'));
  await symlink('a', join(folder, 'b'));
  const names = await namesOnTheWay(join(folder, 'a'));
  assert.deepEqual(names.get(folder), new Set(['a', 'b']));
});

test('a file system that hangs: nothing waits for it, and it is asked once, until it answers', async () => {
  const answers: (() => void)[] = [];
  let silences = 0;
  watch = new FileWatch({
    paths: [join(folder, 'a')],
    clock,
    onChange: () => told++,
    onSilence: () => silences++,
    namesOf: (path) =>
      new Promise((resolve) => {
        answers.push(() => {
          resolve(namesOnTheWay(path));
        });
      }),
  });
  answers[0]?.();
  assert.equal(await watch.settled(), true);
  await clock.advance(200);
  await clock.advance(9_999);
  assert.deepEqual([silences, told], [0, 0]);
  await clock.advance(1);
  assert.equal(await watch.settled(), false);
  // it still hears what it heard before
  await writeFile(join(folder, 'a'), '1');
  await waitFor('a sign of a change', () => clock.pending === 1);
  await clock.advance(100_000);
  assert.deepEqual([answers.length, silences, told], [2, 1, 0]);
  answers[1]?.();
  await waitFor('the change', () => told === 1);
  // the sign that came meanwhile
  await clock.advance(200);
  answers[2]?.();
  await waitFor('the change', () => told === 2);
  await clock.advance(30_000);
  assert.deepEqual([answers.length, silences], [4, 1]);
});
