import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { ConfigReloader } from '../../../src/commands/config-reloader.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: string;
let file: string;
let reloader: ConfigReloader | undefined;
let told: string[];

const text = (...names: readonly string[]): string =>
  `ServerGroups:\n${names.map((name) => `  - {Name: ${name}, Servers: [{Address: 10.0.3.11, Port: 8000}]}\n`).join('')}`;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-reload-'));
  file = join(folder, 'plimsoll.yaml');
  told = [];
});
afterEach(async () => {
  await reloader?.close();
  reloader = undefined;
  await rm(folder, { recursive: true });
});

/** What is told: the cause and the groups, or that it was refused and where. */
async function start(clock: Clock = systemClock): Promise<void> {
  const loaded = await loadConfiguration(file);
  reloader = new ConfigReloader({
    file,
    loaded,
    clock,
    app: {
      reload: ({ serverGroups }: Configuration, because) => {
        told.push(`${because} ${serverGroups.map(({ name }) => name).join(' ')}`);
      },
      reloadRefused: (because, [first = '']) => {
        told.push(`${because} refused${first.slice(file.length)}`);
      },
    },
  });
}

const tells = (what: string): Promise<boolean> =>
  waitFor(`${what} in ${told.join()}`, () => told.includes(what));

test('a file written in place is read again; one that means the same is not told', async () => {
  await writeFile(file, text('one'));
  await start();
  await writeFile(file, `# a comment\n${text('one')}`);
  await writeFile(file, text('one', 'two'));
  await tells('file one two');
  await writeFile(file, text('three'));
  await tells('file three');
  assert.deepEqual(told, ['file one two', 'file three']);
});

test("Kubernetes' way: the folder of the file is another one through a link", async () => {
  const mount = async (version: string, content: string): Promise<void> => {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'plimsoll.yaml'), content);
    await symlink(version, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  await mount('v1', text('one'));
  await symlink(join('..data', 'plimsoll.yaml'), file);
  await start();
  await mount('v2', text('two'));
  await rm(join(folder, 'v1'), { recursive: true });
  await tells('file two');
  await mount('v3', text('three'));
  await tells('file three');
});

test('a bad file is refused once, also one that is gone; mended it is told even if nothing is new', async () => {
  await writeFile(file, text('one'));
  await start();
  await writeFile(file, 'ServerGroups: 7\n');
  await tells('file refused:1:15: ServerGroups: is 7, but must be a list of at least one server group');
  await rm(file);
  await waitFor('the loss', () => told.some((line) => line.includes('there is no such file')));
  await writeFile(file, text('one'));
  await tells('file one');
  assert.equal(told.length, 3);
});

/** Counts how often what a file says is waited for to stand. */
class SettleClock extends FakeClock {
  waits = 0;

  override schedule(milliseconds: number, callback: () => void): () => void {
    if (milliseconds === 1000) this.waits++;
    return super.schedule(milliseconds, callback);
  }
}

/** With the file `one` in force. */
async function startWaiting(): Promise<SettleClock> {
  const clock = new SettleClock();
  await writeFile(file, text('one'));
  await start(clock);
  return clock;
}

/** Until a change has been seen and is waited for, for the `time`th time. */
async function isWaitedFor(clock: SettleClock, time: number): Promise<void> {
  if (clock.waits < time) await waitFor('a sign of a change', () => clock.pending >= 2);
  await waitFor('a wait for the file', async () => {
    if (clock.waits < time) await clock.advance(200);
    return clock.waits === time;
  });
}

/** Until the `times`th look at the file: the content of now has stood for a second after it. */
async function stands(clock: SettleClock, times: number): Promise<void> {
  await clock.advance(1000);
  await isWaitedFor(clock, times);
}

for (const [name, half] of [
  ['that is not valid', 'ServerGroups:\n  - {Name: two, Serv'],
  ['that is valid', text('two')],
  ['of nothing', ''],
] as const) {
  test(`written in place, half a file ${name} is neither taken nor complained about`, async () => {
    const clock = await startWaiting();
    await writeFile(file, half);
    await isWaitedFor(clock, 1);
    await clock.advance(999);
    await writeFile(file, text('two', 'three'));
    await clock.advance(1);
    await isWaitedFor(clock, 2);
    await clock.advance(999);
    assert.deepEqual(told, []);
    await clock.advance(1);
    await tells('file two three');
    assert.deepEqual(told, ['file two three']);
  });
}

test('so with a file that an editor writes anew under its name', async () => {
  const clock = await startWaiting();
  await rename(file, `${file}~`);
  await writeFile(file, text('two'));
  await isWaitedFor(clock, 1);
  await writeFile(file, text('two', 'three'));
  await stands(clock, 2);
  await clock.advance(1000);
  await tells('file two three');
  assert.deepEqual(told, ['file two three']);
});

test('what is whole is not waited for: a file renamed to its name, another target of a link, also a bad one', async () => {
  const clock = new SettleClock();
  const put = async (name: string, content: string): Promise<void> => {
    await writeFile(join(folder, 'next'), content);
    // a file system's clock may stand still for some milliseconds
    await waitFor('another time', async () => {
      await rename(join(folder, 'next'), join(folder, name));
      await rename(join(folder, name), join(folder, 'next'));
      const { mtimeMs, ctimeMs } = await stat(join(folder, 'next'));
      return ctimeMs > mtimeMs;
    });
    await rename(join(folder, 'next'), join(folder, name));
  };
  const isTold = (what: string): Promise<boolean> =>
    waitFor(what, async () => {
      await clock.advance(200);
      return told.at(-1)?.startsWith(what);
    });
  await writeFile(join(folder, 'v1'), text('one'));
  await symlink('v1', file);
  await start(clock);
  await put('v1', text('two'));
  await isTold('file two');
  await writeFile(join(folder, 'v2'), text('three'));
  await symlink('v2', join(folder, 'link'));
  await rename(join(folder, 'link'), file);
  await isTold('file three');
  await put('v2', 'ServerGroups: 7\n');
  await isTold('file refused:1:15');
  assert.equal(clock.waits, 0);
});

test('a signal ends the wait: it is answered with what the file says now', async () => {
  const clock = await startWaiting();
  await writeFile(file, text('two'));
  await isWaitedFor(clock, 1);
  reloader?.reload();
  await tells('signal two');
  assert.equal(clock.waits, 1);
});

test('a file that something writes all the time is read in the end', async () => {
  const clock = await startWaiting();
  await writeFile(file, text('g0'));
  for (let i = 1; i <= 30; i++) {
    await isWaitedFor(clock, i);
    assert.deepEqual(told, []);
    await writeFile(file, text(`g${i}`));
    await clock.advance(1000);
  }
  await tells('file g30');
});

test('a bad file that is mended within the moment, and then is as bad as before, is refused', async () => {
  const clock = new FakeClock();
  const bad = 'ServerGroups: 7\n';
  await writeFile(file, text('one'));
  await start(clock);
  const change = async (content: string): Promise<void> => {
    await writeFile(file, content);
    await waitFor('a sign of a change', () => clock.pending >= 2);
    await clock.advance(200);
  };
  await change(bad);
  await waitFor('it being read, and waited for', () => clock.pending >= 2);
  await writeFile(file, text('two'));
  // a second sign of the change before may have been what was waited for: the moment begins later then
  await waitFor('the mended file', async () => {
    await clock.advance(1000);
    return told.includes('file two');
  });
  await change(bad);
  await waitFor('the refusal', async () => {
    await clock.advance(1000);
    return told.some((line) => line.startsWith('file refused'));
  });
});

test('a folder, a pipe, a dead link or an endless device in its place is refused, and the file taken when it is back', async () => {
  const clock = new FakeClock();
  await writeFile(file, text('first'));
  await start(clock);
  const tellsSoon = (what: RegExp): Promise<boolean> =>
    waitFor(`${what} in ${told.join()}`, async () => {
      await clock.advance(1000);
      return what.test(told.at(-1) ?? '');
    });
  const puts = [
    () => mkdir(file),
    () => promisify(execFile)('mkfifo', [file]),
    () => symlink('nowhere', file),
    () => symlink('/dev/zero', file),
  ];
  for (const [index, put] of puts.entries()) {
    await rm(file);
    await put();
    await tellsSoon(/^file refused/);
    await rm(file, { recursive: true });
    await writeFile(file, text(`g${index}`));
    await tellsSoon(new RegExp(`^file g${index}$`));
  }
});

test('replaced again and again while signals come, the last one counts and none is half', async () => {
  await writeFile(file, text('first'));
  await start();
  for (let i = 0; i < 100; i++) {
    await writeFile(join(folder, 'next'), text(`g${i}`));
    await rename(join(folder, 'next'), file);
    if (i % 10 === 0) reloader?.reload();
  }
  await waitFor('the last one', () => told.at(-1)?.endsWith(' g99'));
  assert.ok(!told.some((line) => line.includes('refused')));
  assert.ok(told.length < 30, `${told.length} times`);
});

test('asked for, it is read and told though nothing has changed; many calls are few readings', async () => {
  await writeFile(file, text('one'));
  await start();
  for (let i = 0; i < 50; i++) reloader?.reload();
  await tells('signal one');
  await reloader?.close();
  assert.ok(told.length <= 2, told.join());
});

test('closed, it reads nothing any more', async () => {
  await writeFile(file, text('one'));
  await start();
  reloader?.reload();
  await reloader?.close();
  assert.deepEqual(told, []);
});
