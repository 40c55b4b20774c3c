import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pino } from 'pino';
import { AccessKeeper } from '../../../src/collect/access.ts';
import type { CollectSettings } from '../../../src/core/model/collect-settings.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Issued, TestCa } from '../../support/pki.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: string;
let clock: FakeClock;
let log: string[];
let keeper: AccessKeeper;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-access-'));
  clock = new FakeClock();
  log = [];
});

afterEach(async () => {
  await keeper.close();
  assert.equal(clock.pending, 0);
  await rm(folder, { recursive: true });
});

async function open(settings: Partial<CollectSettings>): Promise<void> {
  keeper = new AccessKeeper({
    settings: collectSettings(settings),
    clock,
    log: pino({ base: null }, { write: (line) => log.push(line) }),
  });
  await keeper.ready();
}

function file(name: string): string {
  return join(folder, name);
}

/** What is sent beside our own headers. */
function sent(): Record<string, string> {
  const { current } = keeper;
  if (current?.kind !== 'ready') return assert.fail(reason());
  const { headers } = current;
  const pairs = headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1] ?? '']] : []));
  const own = ['accept', 'accept-encoding', 'user-agent'];
  return Object.fromEntries(pairs.filter(([name = '']) => !own.includes(name))) as Record<string, string>;
}

/** Why nothing can be sent. */
function reason(): string {
  return keeper.current?.kind === 'failure' ? keeper.current.failure.message : '';
}

/** The system tells of a change, and the files are read; bad ones are complained about a second later. */
async function noticed(done: () => boolean): Promise<void> {
  await waitFor('the files are read again', async () => {
    await clock.advance(250);
    return done();
  });
}

test('without files everything is there at once, and nothing is watched', () => {
  keeper = new AccessKeeper({
    settings: collectSettings({
      host: 'vllm.example',
      headers: [
        { name: 'X-Scope', value: 'a', file: undefined },
        { name: 'User-Agent', value: 'mine', file: undefined },
      ],
    }),
    clock,
    log: pino({ level: 'silent' }),
  });
  assert.equal(clock.pending, 0);
  assert.ok(keeper.current?.kind === 'ready');
  assert.deepEqual(keeper.current.headers, [
    'accept',
    'text/plain;version=0.0.4;q=1,*/*;q=0.1',
    'accept-encoding',
    'identity',
    'host',
    'vllm.example',
    'X-Scope',
    'a',
    'User-Agent',
    'mine',
  ]);
  assert.equal(keeper.current.tls, undefined);
});

test('a token and a header from files, and again when they have changed', async () => {
  await writeFile(file('token'), 'first\n');
  await writeFile(file('key'), '\t a b \r\n');
  const header = { name: 'X-Key', value: undefined, file: file('key') };
  await open({ bearerTokenFile: file('token'), headers: [header] });
  assert.deepEqual(sent(), { 'X-Key': 'a b', authorization: 'Bearer first' });
  const { current } = keeper;
  await clock.advance(60_000);
  assert.equal(keeper.current, current, 'the same headers while the files are');
  await writeFile(file('next'), 'second');
  await rename(file('next'), file('token'));
  await noticed(() => keeper.current !== current);
  assert.deepEqual(sent(), { 'X-Key': 'a b', authorization: 'Bearer second' });
  assert.match(log.join(''), /HttpMetricCollect\.BearerTokenFile: the new file is in force/);
});

const BAD: readonly (readonly [what: string, make: () => Promise<void>, reason: RegExp])[] = [
  ['a missing file', () => rm(file('token')), /cannot be read: ENOENT/],
  ['an empty file', () => writeFile(file('token'), ' \n'), /it is empty/],
  ['two lines', () => writeFile(file('token'), 's3cr3t\ns3cr3t'), /visible ASCII characters in one line/],
  ['a NUL', () => writeFile(file('token'), 's3cr3t\0'), /visible ASCII/],
  ['no ASCII', () => writeFile(file('token'), 's3cr3té'), /visible ASCII/],
  ['a long token', () => writeFile(file('token'), 's3cr3t'.repeat(2000)), /1\.\.8192/],
  ['a huge file', () => writeFile(file('token'), 'x'.repeat(1024 * 1024 + 1)), /larger than 1048576 bytes/],
  [
    'a folder',
    async () => {
      await rm(file('token'));
      await mkdir(file('token'));
    },
    /no regular file/,
  ],
];

for (const [what, make, expected] of BAD) {
  test(`${what} in place of a token leaves the old one in force, and says so once`, async () => {
    await writeFile(file('token'), 'old');
    await open({ bearerTokenFile: file('token') });
    await make();
    await noticed(() => log.length > 0);
    await clock.advance(60_000);
    assert.deepEqual(sent(), { authorization: 'Bearer old' });
    assert.equal(log.length, 1);
    const line = JSON.parse(log[0] ?? '') as { readonly reason: string; readonly msg: string };
    assert.match(line.reason, new RegExp(`^HttpMetricCollect\\.BearerTokenFile ${folder}/token: `));
    assert.match(line.reason, expected);
    assert.match(line.msg, /the new file is refused, what was in force stays/);
    assert.ok(!log.join('').includes('s3cr3t'));
  });

  test(`${what} at the start is the reason of every collection until it is good`, async () => {
    await writeFile(file('token'), 'old');
    await make();
    await open({ bearerTokenFile: file('token') });
    assert.ok(keeper.current?.kind === 'failure');
    assert.equal(keeper.current.failure.kind, 'credentials');
    assert.match(keeper.current.failure.message, expected);
    assert.match(log.join(''), /BearerTokenFile: cannot be used, collections fail until it can/);
    assert.ok(!(log.join('') + keeper.current.failure.message).includes('s3cr3t'));
    await rm(file('token'), { recursive: true, force: true });
    await writeFile(file('token'), 'new');
    await noticed(() => keeper.current?.kind === 'ready');
    assert.deepEqual(sent(), { authorization: 'Bearer new' });
  });
}

test('of two bad files each has to become good', async () => {
  await open({
    bearerTokenFile: file('token'),
    headers: [{ name: 'X-Key', value: undefined, file: file('key') }],
  });
  await writeFile(file('key'), 'a');
  await noticed(() => reason().includes('BearerTokenFile'));
  await writeFile(file('token'), 'b');
  await noticed(() => keeper.current?.kind === 'ready');
  assert.deepEqual(sent(), { 'X-Key': 'a', authorization: 'Bearer b' });
});

const TLS = { serverName: undefined, certFile: undefined, keyFile: undefined, insecureSkipVerify: false };

async function writePair(issued: Issued): Promise<void> {
  await writeFile(file('own.crt'), issued.cert);
  await writeFile(file('own.key'), issued.key);
}

test('certificates: another context when the files have changed, the old one while they are bad', async () => {
  const ca = await TestCa.create();
  const own = await ca.issue();
  await writePair(own);
  await writeFile(file('ca.crt'), ca.cert);
  const tls = { ...TLS, caFile: file('ca.crt'), certFile: file('own.crt'), keyFile: file('own.key') };
  await open({ scheme: 'https', tls });
  const context = (): unknown => (keeper.current?.kind === 'ready' ? keeper.current.tls?.context : undefined);
  const first = context();
  assert.ok(first !== undefined);
  await writeFile(file('own.key'), (await ca.issue()).key);
  await noticed(() => log.length > 0);
  assert.equal(context(), first);
  assert.match(log.at(-1) ?? '', /Tls\.KeyFile .*: is not the key of the first certificate/);
  assert.ok(!log.join('').includes('PRIVATE KEY'));
  await writePair(await ca.issue());
  await noticed(() => context() !== first);
  assert.match(log.at(-1) ?? '', /Tls: new files are in force for new connections/);
  const second = context();
  await writePair(await ca.issue({ validHours: [-3, -1] }));
  await noticed(() => (log.at(-1) ?? '').includes('not now'));
  assert.equal(context(), second);
});

test('authorities that are missing at the start, and come', async () => {
  await open({ scheme: 'https', tls: { ...TLS, caFile: file('ca.crt') } });
  assert.match(reason(), /^HttpMetricCollect\.Tls\.CaFile .*ca\.crt: cannot be read: ENOENT/);
  await writeFile(file('ca.crt'), (await TestCa.create()).cert);
  await noticed(() => keeper.current?.kind === 'ready');
});

test('https without certificates of ours', async () => {
  await open({ scheme: 'https', tls: { ...TLS, caFile: undefined, insecureSkipVerify: true } });
  assert.ok(keeper.current?.kind === 'ready');
  assert.equal(keeper.current.tls?.insecureSkipVerify, true);
  assert.equal(clock.pending, 0);
});

test('closed while the files are being read', async () => {
  await writeFile(file('token'), 'a');
  keeper = new AccessKeeper({
    settings: collectSettings({ bearerTokenFile: file('token') }),
    clock,
    log: pino({ level: 'silent' }),
  });
  await keeper.close();
  assert.equal(clock.pending, 0);
});
