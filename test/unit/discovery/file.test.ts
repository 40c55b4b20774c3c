import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import type { FileDiscovery } from '../../../src/core/model/discovery.ts';
import type { Found } from '../../../src/discovery/discoverer.ts';
import { FileDiscoverer } from '../../../src/discovery/file.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const SETTLE_MS = 500;
const READ_MS = 10_000;

let folder: string;
let path: string;
let end: AbortController;
let running: Promise<void>;
/** What was told, in order. */
let told: (readonly string[] | string)[];
let lists: (readonly Found[])[];
let leftOut: readonly string[];
/** How often it waited for a file to stand still. */
let settling: number;
/** Whether such a wait ends only by {@link stands}, and those that do not have ended. */
let holds: boolean;
let held: (() => void)[];
/** Whether all the time that a file may be read for is over at once. */
let hangs: boolean;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-file-'));
  path = join(folder, 'backends.yaml');
  end = new AbortController();
  running = Promise.resolve();
  told = [];
  lists = [];
  leftOut = [];
  settling = 0;
  holds = false;
  held = [];
  hangs = false;
});

afterEach(async () => {
  end.abort();
  await running;
  rmSync(folder, { recursive: true });
});

function start(format: FileDiscovery['format'] = 'Plimsoll', at = path): void {
  const clock: Clock = {
    now: () => systemClock.now(),
    schedule: (milliseconds, callback) => {
      if (milliseconds === SETTLE_MS) {
        settling++;
        if (holds) {
          held.push(callback);
          return () => undefined;
        }
      }
      if (milliseconds === READ_MS && hangs) {
        callback();
        return () => undefined;
      }
      return systemClock.schedule(milliseconds, callback);
    },
  };
  const discoverer = new FileDiscoverer({ settings: { kind: 'File', path: at, format }, clock });
  running = discoverer.run(
    {
      found: (list, left) => {
        lists.push(list);
        leftOut = left;
        told.push(list.map(({ address, port }) => `${address}:${port}`));
      },
      failed: (reason) => told.push(reason.replaceAll(folder, '')),
    },
    end.signal,
  );
}

/** Waits until that is what was told last. */
async function last(what: readonly string[] | RegExp): Promise<void> {
  await waitFor(`it is told ${String(what)}`, () => {
    const latest = told.at(-1);
    if (what instanceof RegExp) return typeof latest === 'string' && what.test(latest);
    return JSON.stringify(latest) === JSON.stringify(what);
  });
}

/** Until a change is waited for. */
const isWaitedFor = (): Promise<boolean> => waitFor('a wait for the file', () => held.length > 0);

/** The time that it is waited for is over. */
async function stands(): Promise<void> {
  await isWaitedFor();
  held.shift()?.();
}

/** As something that does it right writes a file. */
function replace(text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

const ONE = '- {Address: 10.0.0.1, Port: 8000}\n';
const TWO = `${ONE}- {Address: 10.0.0.2, Port: 8001, Weight: 50, Zone: a}\n`;

test('a list in the words of Servers, replaced by renaming and written in place', async () => {
  writeFileSync(path, TWO);
  start();
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
  assert.deepEqual(lists[0], [
    { address: '10.0.0.1', port: 8000, weight: 100, zone: undefined },
    { address: '10.0.0.2', port: 8001, weight: 50, zone: 'a' },
  ]);
  replace(JSON.stringify([{ Address: '::1', Port: 8000 }]));
  await last(['::1:8000']);
  writeFileSync(path, ONE);
  await last(['10.0.0.1:8000']);
  replace('[]');
  await last([]);
});

for (const [name, prepare] of [
  ['at the start', () => undefined],
  [
    'where there was none',
    async () => {
      start();
      await last(/there is no such file$/);
    },
  ],
  [
    'after one that was moved away',
    async () => {
      writeFileSync(path, TWO);
      start();
      await last(['10.0.0.1:8000', '10.0.0.2:8001']);
      renameSync(path, `${path}~`);
    },
  ],
  [
    'after one that was removed',
    async () => {
      writeFileSync(path, TWO);
      start();
      await last(['10.0.0.1:8000', '10.0.0.2:8001']);
      rmSync(path);
      await last(/there is no such file$/);
    },
  ],
] as const) {
  test(`a file that is being created, ${name}, is read when it stands still`, async () => {
    await prepare();
    holds = true;
    writeFileSync(path, ONE);
    if (name === 'at the start') start();
    await isWaitedFor();
    writeFileSync(path, `${ONE}- {Address: 10.0.0.3, Port: 8000}\n`);
    await stands();
    await stands();
    await last(['10.0.0.1:8000', '10.0.0.3:8000']);
    assert.ok(
      !told.some((of) => JSON.stringify(of) === '["10.0.0.1:8000"]'),
      'the first half was never told',
    );
  });
}

test('half a character is half a file as well', async () => {
  holds = true;
  const bytes = Buffer.from(`${ONE}# \u00e4`);
  writeFileSync(path, bytes.subarray(0, -1));
  start();
  await isWaitedFor();
  writeFileSync(path, bytes);
  await stands();
  await stands();
  await last(['10.0.0.1:8000']);
  assert.equal(told.length, 1);
});

test('a file that is not there is waited for; one that goes is a failure', async () => {
  start();
  await last(/^\/backends\.yaml: cannot be read: there is no such file$/);
  replace(ONE);
  await last(['10.0.0.1:8000']);
  rmSync(path);
  await last(/there is no such file$/);
});

test('a ConfigMap that is swapped', async () => {
  const write = (version: string, text: string): void => {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'backends.yaml'), text);
    symlinkSync(version, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  write('..1', ONE);
  symlinkSync(join('..data', 'backends.yaml'), path);
  start();
  await last(['10.0.0.1:8000']);
  const before = settling;
  write('..2', TWO);
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
  assert.equal(settling, before, 'it is whole');
});

test('a file that is renamed to its name is whole, also where there was none', async () => {
  const put = async (text: string): Promise<void> => {
    writeFileSync(`${path}.new`, text);
    // a file system's clock may stand still for some milliseconds
    await waitFor('another time', () => {
      renameSync(`${path}.new`, `${path}.next`);
      renameSync(`${path}.next`, `${path}.new`);
      const { mtimeNs, ctimeNs } = statSync(`${path}.new`, { bigint: true });
      return ctimeNs > mtimeNs;
    });
    renameSync(`${path}.new`, path);
  };
  start();
  await last(/there is no such file$/);
  await put(ONE);
  await last(['10.0.0.1:8000']);
  await put(TWO);
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
  assert.equal(settling, 0);
});

test('what is half written says where; a whole one follows', async () => {
  writeFileSync(path, ONE);
  start();
  await last(['10.0.0.1:8000']);
  writeFileSync(path, `${ONE}- {Address: 10.0.0.2, Po`);
  await last(/^\/backends\.yaml:2:\d+: /);
  writeFileSync(path, TWO);
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
});

test('a file that is being written in place is read when it stands still', async () => {
  writeFileSync(path, TWO);
  start();
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
  writeFileSync(path, ONE);
  await waitFor('the first look', () => settling > 0);
  writeFileSync(path, `${ONE}- {Address: 10.0.0.3, Port: 8000}\n`);
  await last(['10.0.0.1:8000', '10.0.0.3:8000']);
  assert.ok(!told.some((of) => of.length === 1), 'the first half was never told');
});

const BAD: readonly (readonly [name: string, text: string, reason: RegExp])[] = [
  [
    'nothing',
    '',
    /^\/backends\.yaml:1:1: the file is empty, but must be a list of servers, \[\] if there are none$/,
  ],
  ['a token', 's3cr3t', /^\/backends\.yaml:1:1: the file is a text, but must be a list of servers/],
  ['a map', 'Address: 10.0.0.1', /:1:1: the file is a map, but must be a list of servers/],
  [
    'a port that is none',
    '- {Address: 10.0.0.1, Port: 0}',
    /:1:\d+: \[0\]\.Port: is 0, but must be an integer 1\.\.65535$/,
  ],
  [
    'a name',
    '- {Address: vllm.local, Port: 1}',
    /\[0\]\.Address: is "vllm\.local", but must be an IP literal: a host name is none/,
  ],
  ['a typo', '- {Adress: 10.0.0.1, Port: 1}', /\[0\]\.Adress: is an unknown key; did you mean Address\?/],
  ['several', '- {Address: 10.0.0.1}\n- {Port: 1}', /:1:3: \[0\]\.Port: is missing; .*, and 1 more$/],
  ['JSON with a mistake', '[\n{"Address": "10.0.0.1", "Port": true}]', /:2:\d+: \[0\]\.Port: is true/],
  ['no UTF-8', '\u0000', /:1:1/],
];
for (const [name, text, reason] of BAD) {
  test(`a file with ${name} is a failure with file and line`, async () => {
    writeFileSync(path, text);
    start();
    await last(reason);
  });
}

test('a file that is too large, no text, or a folder is a failure', async () => {
  writeFileSync(path, Buffer.alloc(8 * 1024 * 1024 + 1, '#'));
  start();
  await last(/cannot be read: it is larger than 8388608 bytes$/);
  rmSync(path);
  writeFileSync(path, Buffer.from([0xff, 0xfe]));
  await last(/is not UTF-8/);
  rmSync(path);
  mkdirSync(path);
  await last(/it is no regular file$/);
});

test("a list of Prometheus' file_sd, YAML and JSON", async () => {
  writeFileSync(
    path,
    '- targets: ["10.0.0.1:8000", vllm.local:8000]\n  labels: {job: vllm, weight: 30}\n- targets: ["[::1]:9"]\n',
  );
  start('PrometheusSd');
  await last(['10.0.0.1:8000', '::1:9']);
  assert.equal(lists[0]?.[0]?.weight, 30);
  assert.deepEqual(leftOut, [
    'vllm.local:8000: a host name is no address; Discovery with Dns looks names up',
  ]);
  replace('[{"targets": ["10.0.0.2:8000"], "labels": {"__meta_ec2_availability_zone": "b"}}]');
  await last(['10.0.0.2:8000']);
  assert.equal(lists.at(-1)?.[0]?.zone, 'b');
  replace('s3cr3t');
  await last(/^\/backends\.yaml:1:1: the file is a text, but must be a list of target groups/);
  replace('- targets: [10.0.0.1:8000]\n- target: [10.0.0.1:8000]\n');
  await last(/^\/backends\.yaml:2:3: \[1\]\.targets: is missing, but must be a list of HOST:PORT$/);
  replace('- {targets: [1.2.3.4:5], labels: {zone: [a]}}');
  await last(/:1:\d+: \[0\]\.labels\.zone: is a list, but must be a text or a number$/);
});

test('a pipe, a device or a circle of links in its place is a failure, and a file follows', async () => {
  await promisify(execFile)('mkfifo', [path]);
  start();
  await last(/it is no regular file$/);
  replace(ONE);
  await last(['10.0.0.1:8000']);
  const link = (target: string): void => {
    symlinkSync(target, join(folder, 'link'));
    renameSync(join(folder, 'link'), path);
  };
  link('/dev/zero');
  await last(/it is no regular file$/);
  link('backends.yaml');
  await last(/cannot be read: /);
  replace(TWO);
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
});

test('a file that cannot be read in time is a failure, until it can', async () => {
  hangs = true;
  writeFileSync(path, ONE);
  start();
  await last(/^\/backends\.yaml: cannot be read: nothing came for 10 s$/);
  hangs = false;
  replace(TWO);
  await last(['10.0.0.1:8000', '10.0.0.2:8001']);
});
