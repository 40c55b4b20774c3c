import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** As `deploy/README.md` has it. */
const INSTALL = /^ *npm (install --prefix) \/opt\/plimsoll (.*) \.\/plimsoll-[\d.]+\.tgz$/m;

describe('the packed package', () => {
  let folder = '';
  let files: readonly string[] = [];

  /** Runs a command that must end with exit code 0, and returns its standard output. */
  function run(command: string, args: readonly string[], cwd: string): string {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    assert.equal(status, 0, `${command} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  }

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-pack-'));
    const packed: unknown = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root));
    const [tarball] = Object.values(
      packed as Record<string, { filename: string; files: { path: string }[] }>,
    );
    assert.ok(tarball !== undefined, 'npm pack made no tarball');
    files = tarball.files.map(({ path }) => path);
    const [, install = '', flags = ''] =
      INSTALL.exec(readFileSync(join(root, 'deploy', 'README.md'), 'utf8')) ?? [];
    assert.notEqual(install, '', 'deploy/README.md says how to install it');
    const work = join(folder, 'work');
    mkdirSync(work);
    // nothing is fetched for it, whatever a cache of this machine has
    const alone = ['--offline', '--cache', join(folder, 'cache')];
    const words = [...install.split(' '), folder, ...flags.split(' '), ...alone];
    run('npm', [...words, join(folder, tarball.filename)], work);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('holds what runs and what an operator starts from, and nothing else', () => {
    const kept = ['README.md', 'CHANGELOG.md', 'LICENSE', 'NOTICE', 'package.json'];
    const page = ['index.html', 'page.css', 'icon.svg', 'view/main.js'].map(
      (name) => `dist/admin/page/${name}`,
    );
    // README and explain.md refer to them
    const shapes = ['explanation', 'sample-shape', 'state-shape'].map((name) => `src/admin/${name}.ts`);
    const needed = [
      ...kept,
      ...shapes,
      'dist/main.js',
      ...page,
      'protos/generated/envoy.json',
      'deploy/plimsoll.yaml',
    ];
    assert.deepEqual(
      needed.filter((name) => !files.includes(name)),
      [],
    );
    assert.deepEqual(
      files.filter(
        (name) =>
          !kept.includes(name) &&
          !shapes.includes(name) &&
          !name.startsWith('node_modules/') &&
          !/^(dist\/.*\.js|dist\/admin\/page\/\w+\.(html|css|svg)|protos\/generated\/|deploy\/.*\.(yaml|md|json))/.test(
            name,
          ),
      ),
      [],
    );
  });

  test('installs exactly the packages of deploy/licences.md, and runs nothing of theirs for it', () => {
    const listed = readFileSync(join(root, 'deploy', 'licences.md'), 'utf8')
      .split('\n')
      .flatMap((line) => /^\| (\S+) \| (\d\S+) \|/.exec(line)?.slice(1).join(' ') ?? []);
    assert.ok(listed.length > 50, `${listed.length} packages`);
    const { version } = manifestIn(root);
    assert.deepEqual(
      [...new Set(installedIn(join(folder, 'node_modules')))].toSorted(),
      [...listed, `plimsoll ${version}`].toSorted(),
    );
    const documented = INSTALL.exec(readFileSync(join(root, 'deploy', 'README.md'), 'utf8'))?.[2];
    assert.match(documented ?? '', /--ignore-scripts/);
  });

  test('runs plimsoll: validate finds nothing wrong with the configuration that comes along', () => {
    const config = join('node_modules', 'plimsoll', 'deploy', 'plimsoll.yaml');
    const effective = run('npx', ['--no', 'plimsoll', 'validate', '--config', config], folder);
    assert.match(effective, /^ServerGroups:/m);
  });

  test('serves the live page with all that it is made of', async () => {
    const script = `import Fastify from './node_modules/plimsoll/node_modules/fastify/fastify.js';
      import { addPageRoutes } from './node_modules/plimsoll/dist/admin/page-routes.js';
      const http = Fastify();
      addPageRoutes(http);
      const get = async (url) => {
        const { statusCode, body, headers } = await http.inject(url);
        if (statusCode !== 200) throw new Error(url + ' ' + statusCode);
        return { body, type: headers['content-type'] };
      };
      const seen = new Set(['/']);
      for (const url of seen) {
        const { body, type } = await get(url);
        console.log(url, type, body.length > 0);
        for (const [, quoted] of body.matchAll(/(?:(?:href|src)=|from )["']([^"']+)["']/g)) {
          seen.add(new URL(quoted, 'http://host' + url).pathname);
        }
      }`;
    const lines = run(process.execPath, ['--input-type=module', '--eval', script], folder).trim().split('\n');
    for (const wanted of [
      '/ text/html; charset=utf-8 true',
      '/assets/uplot.js text/javascript; charset=utf-8 true',
      '/assets/uplot.css text/css; charset=utf-8 true',
      '/assets/page/page.css text/css; charset=utf-8 true',
      '/assets/page/icon.svg image/svg+xml true',
      '/assets/page/view/main.js text/javascript; charset=utf-8 true',
      '/assets/page/rows.js text/javascript; charset=utf-8 true',
      '/assets/words/explain-backend.js text/javascript; charset=utf-8 true',
    ]) {
      assert.ok(lines.includes(wanted), `${wanted} in\n${lines.join('\n')}`);
    }
  });

  test('runs the demo as far as without Envoy, and says how to have one', () => {
    const main = join('node_modules', 'plimsoll', 'dist', 'main.js');
    const env = { PATH: '', TMPDIR: folder };
    const { status, stderr } = spawnSync(process.execPath, [main, 'demo'], {
      cwd: folder,
      encoding: 'utf8',
      env,
    });
    assert.equal(status, 1);
    assert.equal(stderr, 'plimsoll: no Envoy: set ENVOY_BIN to an Envoy binary, or put envoy on PATH\n');
  });

  test("carries the bundle of Envoy's messages where the code looks for it", () => {
    const script = `import { messageType } from './node_modules/plimsoll/dist/xds/protos.js';
      console.log(messageType('envoy.config.endpoint.v3.ClusterLoadAssignment').name);`;
    const name = run(process.execPath, ['--input-type=module', '--eval', script], folder);
    assert.equal(name, 'ClusterLoadAssignment\n');
  });
});

function manifestIn(folder: string): { readonly name: string; readonly version: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; version: string };
}

/** Name and version of each package in a `node_modules`, and of those in theirs. */
function installedIn(modules: string): readonly string[] {
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((of) => `${name}/${of}`) : name,
    )
    .flatMap((name) => {
      const { version } = manifestIn(join(modules, name));
      return [`${name} ${version}`, ...installedIn(join(modules, name, 'node_modules'))];
    });
}
