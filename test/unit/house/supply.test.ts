import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { assertFile } from '../../support/golden.ts';

/**
 * What comes from others: only what the lock file names by content, nothing of which runs while it is installed, under
 * licences that allow what the project's own one does.
 */

const ROOT = new URL('../../../', import.meta.url);
const LIST = new URL('deploy/licences.md', ROOT);

/** Those that ask for no more than to be named. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
]);

/**
 * Packages that ask for a script when they are installed and do their work without it: the one of protobufjs only
 * compares versions, the one of esbuild only spares its command a process of Node.
 */
const NEED_NO_SCRIPT: ReadonlySet<string> = new Set(['esbuild', 'protobufjs']);

/** What npm runs by itself when somebody installs this project. */
const LIFECYCLE = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly inBundle?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

const text = (name: string): string => readFileSync(new URL(name, ROOT), 'utf8');
const manifest = JSON.parse(text('package.json')) as Manifest;
const lock = JSON.parse(text('package-lock.json')) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
};
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');
const production = locked.filter(([, { dev }]) => dev !== true);

test('each package of the lock file is named by its content', () => {
  assert.equal(lock.lockfileVersion, 3);
  assert.ok(locked.length > 50, `${locked.length} packages`);
  assert.deepEqual(
    locked
      .filter(([, of]) => of.link === true || !/^sha512-[\w+/]{86}==$/.test(of.integrity ?? ''))
      .map(([path]) => path),
    [],
  );
});

test('package.json asks for exact versions', () => {
  const wanted = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  assert.ok(wanted.length > 20, `${wanted.length} dependencies`);
  assert.deepEqual(
    wanted.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)),
    [],
  );
});

test('the dependencies are installed from the lock file alone', () => {
  assert.match(text('deploy/setup.mjs'), /run\('npm', \['ci', /);
  assert.doesNotMatch(text('deploy/setup.mjs'), /\['(install|i|update|add)'/);
});

test('nothing runs while dependencies are installed, and nothing needs to', () => {
  assert.match(text('.npmrc'), /^ignore-scripts=true$/m);
  assert.deepEqual(
    LIFECYCLE.filter((name) => manifest.scripts?.[name] !== undefined),
    [],
  );
  const asking = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  assert.deepEqual(
    asking.map(([path]) => nameOf(path)).filter((name) => !NEED_NO_SCRIPT.has(name)),
    [],
  );
});

test('what is installed is what the lock file says, licences included', () => {
  const differing = production.filter(([path, { version, license }]) => {
    const installed = JSON.parse(text(`${path}/package.json`)) as Manifest;
    return installed.version !== version || installed.license !== license;
  });
  assert.deepEqual(
    differing.map(([path]) => path),
    [],
  );
});

test('what the packed package carries are the production dependencies, and they are the same on every machine', () => {
  assert.deepEqual(
    locked.filter(([, { dev, inBundle }]) => (inBundle === true) !== (dev !== true)).map(([path]) => path),
    [],
  );
  assert.deepEqual(
    production.filter(([, { os, cpu }]) => (os ?? cpu) !== undefined).map(([path]) => path),
    [],
  );
});

test('every production dependency comes with the text of its licence, or NOTICE says where it is', () => {
  const silent = production
    .map(([path]) => path)
    .filter((path) => !readdirSync(new URL(path, ROOT)).some((name) => /^(licen[cs]e|copying)/i.test(name)));
  assert.deepEqual(silent.map(nameOf), ['abstract-logging']);
  assert.match(text('NOTICE'), /of abstract-logging, .* is at http/);
});

test('every production dependency has a permissive licence', () => {
  assert.ok(production.length > 50, `${production.length} packages`);
  assert.deepEqual(
    production.filter(([, { license }]) => !isPermissive(license ?? '')).map(([path]) => path),
    [],
  );
});

test('a licence counts as permissive when one of those to choose from is', () => {
  const permissive = ['MIT', '(MIT OR Apache-2.0)', '(BSD-3-Clause OR GPL-2.0)', 'ISC OR MIT'];
  const others = ['', 'GPL-3.0-only', 'MIT AND GPL-2.0', 'SEE LICENSE IN LICENSE', 'UNLICENSED', 'mit'];
  assert.deepEqual(
    permissive.filter((licence) => !isPermissive(licence)),
    [],
  );
  assert.deepEqual(others.filter(isPermissive), []);
});

test('deploy/licences.md lists every production dependency with its licence', () => {
  const rows = production.map(([path, { version, license }]) => [nameOf(path), version, license ?? '']);
  const sorted = [...new Set(rows.map((row) => `| ${row.join(' | ')} |`))].toSorted();
  assertFile(
    LIST,
    [
      '# Licences of the dependencies',
      '',
      'Packages that the packed Plimsoll carries, and its image has, in `node_modules`, each with the text of its licence in',
      'its folder or, where it has none there, in its own repository. Made from the lock file:',
      '`UPDATE_GOLDEN=1 npm test -- house/supply` writes this list anew. What else the package carries of others is in',
      '`NOTICE`.',
      '',
      '| package | version | licence |',
      '|---|---|---|',
      ...sorted,
      '',
    ].join('\n'),
  );
});

test('NOTICE and LICENSE go with the package', () => {
  const { files } = JSON.parse(text('package.json')) as { readonly files: readonly string[] };
  for (const name of ['LICENSE', 'NOTICE'])
    assert.ok(files.includes(name), `${name} in ${fileURLToPath(ROOT)}`);
  assert.match(text('NOTICE'), /deploy\/licences\.md/);
});

/** The name of the package whose folder in node_modules this is. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Of an SPDX expression: `OR` leaves the choice to whoever takes it. */
function isPermissive(licence: string): boolean {
  return licence
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((one) => PERMISSIVE.has(one));
}
