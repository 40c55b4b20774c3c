import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { unixMs } from '../../../src/runtime/clock.ts';
import { readCredentials } from '../../../src/runtime/credentials.ts';
import { ReloadedCredentials } from '../../../src/runtime/reloaded-credentials.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Issued, TestCa } from '../../support/pki.ts';
import { waitFor } from '../../support/wait-for.ts';

const HOUR_MS = 3_600_000;

let ca: TestCa;
let first: Issued;
let second: Issued;
let folder: string;
let files: Record<'certFile' | 'keyFile' | 'clientCaFile', string>;
let clock: FakeClock;
let now: number;
let taken: string[];
let refused: number;
let log: string[];
let reloaded: ReloadedCredentials;

before(async () => {
  ca = await TestCa.create();
  first = await ca.issue();
  second = await ca.issue({ validHours: [-1, 48] });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-credentials-'));
  files = {
    certFile: join(folder, 'tls.crt'),
    keyFile: join(folder, 'tls.key'),
    clientCaFile: join(folder, 'ca.crt'),
  };
  await write(first);
  await writeFile(join(folder, 'ca.crt'), ca.cert);
  clock = new FakeClock();
  now = unixMs();
  taken = [];
  refused = 0;
  log = [];
  reloaded = new ReloadedCredentials({
    field: 'Xds.Tls',
    files,
    clock,
    unixMs: () => now,
    log: pino({ base: null }, { write: (line) => log.push(line) }),
    observer: {
      credentialsTaken: ({ cert }) => taken.push(`${cert}\n`),
      credentialsRefused: () => refused++,
    },
  });
});

afterEach(async () => {
  await reloaded.close();
  assert.equal(clock.pending, 0);
  await rm(folder, { recursive: true });
});

async function write({ cert, key }: Partial<Issued>): Promise<void> {
  if (cert !== undefined) await writeFile(join(folder, 'tls.crt'), cert);
  if (key !== undefined) await writeFile(join(folder, 'tls.key'), key);
}

/** The next half minute, and the reading of the files at its end. */
async function poll(): Promise<void> {
  // signs of changes before it
  for (const milliseconds of [0, 200, 30_000]) {
    await clock.advance(milliseconds);
    await reloaded.settled();
  }
}

/** The system tells of a change, and the files are read. Time stands still but for the debounce. */
async function notice(): Promise<void> {
  await waitFor('a sign', () => clock.pending > 1);
  await clock.advance(200);
  await reloaded.settled();
}

/** Bad files are complained about when they are still the same after a second. */
async function refusal(): Promise<void> {
  await notice();
  assert.equal(refused, 0, 'it may be half written');
  await clock.advance(1000);
  await reloaded.settled();
}

test('files are taken at first, and new ones when they have changed', async () => {
  await reloaded.open();
  await poll();
  assert.deepEqual(taken, [first.cert]);
  await write(second);
  await poll();
  assert.deepEqual(taken, [first.cert, second.cert]);
  assert.equal(refused, 0);
  assert.match(log.join(''), /Xds\.Tls: new files are in force for new connections/);
});

test('a change is noticed without waiting for the half minute', async () => {
  await reloaded.open();
  await write(second);
  await notice();
  assert.equal(taken.length, 2);
});

test('new authorities alone are a change', async () => {
  await reloaded.open();
  await writeFile(join(folder, 'ca.crt'), ca.cert + (await TestCa.create()).cert);
  await poll();
  assert.equal(taken.length, 2);
});

const BAD: readonly (readonly [what: string, field: string, make: () => Promise<void>, reason: RegExp])[] = [
  [
    'a certificate and the key of another',
    'KeyFile',
    () => write({ cert: second.cert }),
    /is not the key of/,
  ],
  ['noise for a key', 'KeyFile', () => write({ key: 'noise' }), /holds no private key in PEM/],
  ['noise for a certificate', 'CertFile', () => write({ cert: 'noise' }), /holds no certificate in PEM/],
  [
    'half a certificate',
    'CertFile',
    () => write({ cert: first.cert.slice(0, 300) }),
    /holds no certificate in PEM, or is cut off/,
  ],
  [
    'a chain of which the end is missing',
    'CertFile',
    () => write({ cert: first.cert + ca.cert.slice(0, 300) }),
    /or is cut off/,
  ],
  [
    'a certificate of noise',
    'CertFile',
    () => write({ cert: '-----BEGIN CERTIFICATE-----\nbm9pc2U=\n-----END CERTIFICATE-----\n' }),
    /cannot be read/,
  ],
  ['an empty key', 'KeyFile', () => write({ key: '' }), /holds no private key in PEM/],
  ['a missing key', 'KeyFile', () => rm(join(folder, 'tls.key')), /cannot be read: ENOENT/],
  [
    'noise for authorities',
    'ClientCaFile',
    () => writeFile(join(folder, 'ca.crt'), 'noise'),
    /no certificate/,
  ],
  [
    'a large file',
    'CertFile',
    () => write({ cert: 'x'.repeat(1024 * 1024 + 1) }),
    /larger than 1048576 bytes/,
  ],
  [
    'a folder in place of a file',
    'KeyFile',
    async () => {
      await rm(join(folder, 'tls.key'));
      await mkdir(join(folder, 'tls.key'));
    },
    /no regular file/,
  ],
];

for (const [what, field, make, reason] of BAD) {
  test(`${what} changes nothing, and is told once`, async () => {
    await reloaded.open();
    await make();
    await refusal();
    assert.equal(refused, 1);
    await poll();
    assert.equal(refused, 1, 'told once');
    assert.deepEqual(taken, [first.cert]);
    const line = JSON.parse(log.at(-1) ?? '') as { reason: string; msg: string };
    assert.match(line.reason, new RegExp(`^Xds\\.Tls\\.${field} ${folder}.*`));
    assert.match(line.reason, reason);
    assert.match(line.msg, /those from before stay in force/);
    if (field === 'KeyFile') await rm(join(folder, 'tls.key'), { recursive: true, force: true });
    await write(second);
    await writeFile(join(folder, 'ca.crt'), ca.cert);
    await poll();
    assert.deepEqual(taken, [first.cert, second.cert]);
  });

  test(`${what} is no start`, async () => {
    await make();
    await assert.rejects(reloaded.open(), { name: 'PlimsollError', code: 'io', message: reason });
    assert.deepEqual(taken, []);
  });
}

test('no reason holds anything of what is in a file', async () => {
  await write({ key: first.key.slice(0, 100) });
  const read = await readCredentials(files);
  assert.ok(read.kind === 'bad');
  assert.ok(!read.reason.includes(first.key.slice(40, 60)), read.reason);
});

test('two files written one after the other are no complaint', async () => {
  await reloaded.open();
  await write({ cert: second.cert });
  await notice();
  assert.deepEqual([taken.length, refused], [1, 0]);
  await write({ key: second.key });
  await clock.advance(1000);
  await reloaded.settled();
  assert.deepEqual([taken.length, refused], [2, 0]);
});

test('other bad files are another complaint, good old ones again end it', async () => {
  await reloaded.open();
  await write({ key: 'noise' });
  await refusal();
  await write({ key: 'other noise' });
  await poll();
  await clock.advance(1000);
  await reloaded.settled();
  assert.equal(refused, 2);
  await write(first);
  await poll();
  assert.deepEqual(taken, [first.cert]);
});

test('an expired certificate does not take the place of a valid one', async () => {
  await reloaded.open();
  await write(await ca.issue({ validHours: [-3, -1] }));
  await refusal();
  assert.deepEqual([taken.length, refused], [1, 1]);
  assert.match(log.at(-1) ?? '', /is valid from .* until .*, not now/);
});

test('expired authorities do not take the place of valid ones, but may stand beside one', async () => {
  await reloaded.open();
  const expired = await TestCa.create('CN=old CA', [-3, -1]);
  await writeFile(join(folder, 'ca.crt'), expired.cert);
  await refusal();
  assert.deepEqual([taken.length, refused], [1, 1]);
  assert.match(log.at(-1) ?? '', /ClientCaFile .*: is valid from .* until .*, not now/);
  await writeFile(join(folder, 'ca.crt'), expired.cert + ca.cert);
  await poll();
  assert.deepEqual([taken.length, refused], [2, 1]);
});

test('a certificate of tomorrow is taken tomorrow', async () => {
  await reloaded.open();
  const tomorrow = await ca.issue({ validHours: [2, 90] });
  await write(tomorrow);
  await refusal();
  assert.deepEqual([taken.length, refused], [1, 1]);
  now += 3 * HOUR_MS;
  await poll();
  assert.deepEqual(taken, [first.cert, tomorrow.cert]);
});

test('in place of an expired certificate anything is better', async () => {
  await reloaded.open();
  now += 30 * HOUR_MS;
  const expired = await ca.issue({ validHours: [-3, -1] });
  await write(expired);
  await poll();
  assert.deepEqual(taken, [first.cert, expired.cert]);
});

test('an expired certificate is a start with a warning', async () => {
  await write(await ca.issue({ validHours: [-3, -1] }));
  await reloaded.open();
  assert.equal(taken.length, 1);
  assert.match(log.join(''), /the certificate in force is not valid now/);
});

test('that the certificate in force has expired is said once', async () => {
  await reloaded.open();
  now += 30 * HOUR_MS;
  for (let i = 0; i < 3; i++) await poll();
  assert.equal(log.filter((line) => line.includes('is not valid now')).length, 1);
});

test('an intermediate certificate that ends first is the end of all', async () => {
  const brief = await ca.issue({ validHours: [-1, 2] });
  await write({ cert: second.cert + brief.cert, key: second.key });
  const read = await readCredentials(files);
  assert.ok(read.kind === 'good');
  const hours = (read.value.validMs[1] - unixMs()) / HOUR_MS;
  assert.ok(hours > 1.9 && hours < 2.1, String(hours));
});

test('files swapped all at once, while they are read', async () => {
  await reloaded.open();
  for (let i = 0; i < 5; i++) {
    const { cert, key } = i % 2 === 0 ? second : first;
    await Promise.all([
      writeFile(join(folder, 'next.crt'), cert).then(() => rename(join(folder, 'next.crt'), files.certFile)),
      writeFile(join(folder, 'next.key'), key).then(() => rename(join(folder, 'next.key'), files.keyFile)),
      clock.advance(30_000),
    ]);
    await poll();
  }
  // on a busy machine the clock outruns the disk
  await waitFor('the last ones', () => taken.at(-1) === second.cert);
  assert.equal(refused, 0);
});
