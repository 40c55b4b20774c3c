import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { request } from 'undici';
import { endChild, keepFromOutliving } from '../../src/demo/children.ts';
import type { ImageStage } from '../support/dockerfile.ts';
import { makeImage } from '../support/image.ts';
import { kubernetesManifests } from '../support/kubernetes-files.ts';
import { freePort } from '../support/ports.ts';
import { waitFor } from '../support/wait-for.ts';

const CONFIG = `Xds: {Listen: 127.0.0.1:0, DrainSeconds: 1}
Admin: {Listen: 127.0.0.1:0}
ServerGroups:
  - Name: llama
    Servers: [{Address: 127.0.0.1, Port: 9}]
`;
/** Without what the base image and Node itself take. */
const MOST_MEGABYTES = 45;

describe('the image of deploy/docker/Dockerfile', () => {
  let folder = '';
  let app = '';
  let stage: ImageStage;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-image-'));
    chmodSync(folder, 0o755);
    ({ app, stage } = await makeImage(folder));
    writeFileSync(join(folder, 'plimsoll.yaml'), CONFIG);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function textOf(name: string): string {
    return stage.instructions.find((one) => one.name === name)?.text ?? assert.fail(`no ${name}`);
  }

  /** Runs a command of the image as its user, and as PID 1 of its own processes, as far as this machine lets us. */
  function start(t: TestContext, command: readonly string[]): Container {
    const container = new Container(
      command.map((word) => word.replaceAll('/app/', `${app}/`)),
      textOf('USER').split(':').map(Number),
    );
    t.after(() => container.stop());
    return container;
  }

  function stageUser(): number {
    return Number(textOf('USER').split(':')[0]);
  }

  test('is small, and has no tools, types or sources', () => {
    const files = readdirSync(app, { recursive: true, encoding: 'utf8' }).map((name) => join(app, name));
    const bytes = files
      .map((name) => (existsSync(name) ? statSync(name).size : 0))
      .reduce((sum, one) => sum + one, 0);
    assert.ok(bytes < MOST_MEGABYTES * 1e6, `${(bytes / 1e6).toFixed(1)} MB`);
    assert.deepEqual(readdirSync(app).toSorted(), [
      'LICENSE',
      'NOTICE',
      'dist',
      'node_modules',
      'package.json',
      'protos',
    ]);
    assert.deepEqual(
      files.filter((name) => /\.[cm]?ts$|\.map$/.test(name)),
      [],
    );
    assert.equal(existsSync(join(app, 'node_modules', 'typescript')), false);
  });

  test('nothing in it can be written by the user that it runs as', () => {
    const files = readdirSync(app, { recursive: true, encoding: 'utf8' }).map((name) => join(app, name));
    const open = files.filter((name) => existsSync(name) && (statSync(name).mode & 0o002) !== 0);
    assert.deepEqual(open, []);
    assert.match(textOf('USER'), /^[1-9]\d*:[1-9]\d*$/);
  });

  test('plimsoll is on the path', () => {
    const path = /PATH=\/app\/([^:]+):/.exec(textOf('ENV'))?.[1] ?? assert.fail();
    const { stdout } = spawnSync(join(app, path, 'plimsoll'), ['--version'], { encoding: 'utf8' });
    const { version } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as { version: string };
    assert.equal(stdout.trim(), version);
  });

  test('the entry point is the process itself, and ends in time with exit code 0', async (t) => {
    const [program, ...args] = JSON.parse(textOf('ENTRYPOINT')) as string[];
    assert.equal(program, 'node');
    const cmd = JSON.parse(textOf('CMD')) as string[];
    assert.deepEqual(cmd.slice(0, 2), ['serve', '--config']);
    const container = start(t, [...args, 'serve', '--config', join(folder, 'plimsoll.yaml')]);
    const admin = await container.said(/"admin":"([^"]+)","msg":"ready"/);
    assert.equal((await request(`http://${admin}/readyz`)).statusCode, 200);
    if (container.isolated) assert.deepEqual(container.identity(), { pid: 1, user: stageUser() });
    container.terminate();
    await container.said(/"msg":"(stopping)/);
    assert.equal(await container.ended, 0, container.output);
  });

  test('as PID 1 it ends on a SIGTERM that comes while it is coming up', async (t) => {
    const script = `await import('${app}/dist/commands/early-stop.js'); setInterval(() => {}, 1000); console.log('up');`;
    const container = start(t, [...NODE_SCRIPT, script]);
    await container.said(/(up)/);
    container.terminate();
    assert.equal(await container.ended, container.isolated ? 0 : 'SIGTERM');
  });

  test('the engines and clients that deploy/kubernetes/fleet makes of it understand each other', async (t) => {
    const address = `127.0.0.1:${await freePort()}`;
    const [host = '', port = ''] = address.split(':');
    const engineScript = scriptOf('llama').replace("'0.0.0.0', port: 8000", `'${host}', port: ${port}`);
    const engine = start(t, [...NODE_SCRIPT, engineScript]);
    const get = async (path: string): Promise<string> =>
      (await request(`http://${address}${path}`)).body.text();
    await waitFor('the engine', () => get('/health').then(() => true));
    const client = start(t, [...NODE_SCRIPT, scriptOf('client').replace('127.0.0.1:10000', address)]);
    await waitFor('a completion', async () =>
      /^vllm:request_success_total\{.*\} [1-9]/m.test(await get('/metrics')),
    );
    for (const container of [client, engine]) {
      container.terminate();
      assert.equal(await container.ended, 0, container.output);
    }
    // the client tells what was no 200
    assert.equal(client.output, '');
  });
});

const NODE_SCRIPT = ['--input-type=module', '--eval'];

/** What Node is to run in the first container of a Deployment of the sample fleet. */
function scriptOf(name: string): string {
  const deployment = kubernetesManifests().find(
    ({ kind, file, metadata }) =>
      kind === 'Deployment' && file.startsWith('fleet/') && metadata?.name === name,
  );
  const { command, args = [] } = deployment?.spec?.template?.spec.containers[0] ?? assert.fail(name);
  assert.deepEqual(command, ['node', ...NODE_SCRIPT]);
  return args.join('');
}

/** A process of the image. */
class Container {
  readonly #child: ChildProcess;
  /** Whether it is PID 1 and runs as the image's user. */
  readonly isolated: boolean;
  readonly ended: Promise<number | NodeJS.Signals | null>;
  output = '';

  constructor(args: readonly string[], [uid = 0, gid = 0]: readonly number[]) {
    const mayChange = process.getuid?.() === 0 && succeeds(process.execPath, ['--version'], { uid, gid });
    const user = mayChange
      ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs']
      : [];
    const first = ['unshare', '--pid', '--fork', '--kill-child'];
    this.isolated =
      mayChange && succeeds('unshare', [...first.slice(1), ...user, process.execPath, '--version']);
    const [program = '', ...rest] = [
      ...(this.isolated ? [...first, ...user] : []),
      process.execPath,
      ...args,
    ];
    this.#child = spawn(program, rest, {
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(mayChange && !this.isolated && { uid, gid }),
    });
    keepFromOutliving(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        resolve(code ?? signal);
      });
    });
  }

  /** Sends SIGTERM to the process itself. */
  terminate(): void {
    process.kill(this.#pid(), 'SIGTERM');
  }

  /** Its number in its own namespace, and the number of its user. */
  identity(): { readonly pid: number; readonly user: number } {
    const status = readFileSync(`/proc/${this.#pid()}/status`, 'utf8');
    const last = (field: string): number =>
      Number(new RegExp(`^${field}:.*\\s(\\d+)$`, 'm').exec(status)?.[1]);
    return { pid: last('NSpid'), user: last('Uid') };
  }

  /** Not that of `unshare`, which waits for it. */
  #pid(): number {
    const { pid = 0 } = this.#child;
    return this.isolated ? Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()) : pid;
  }

  /** @returns the first group. */
  said(pattern: RegExp): Promise<string> {
    return waitFor(`${pattern.source} in\n${this.output}`, () => pattern.exec(this.output)?.[1], 20_000);
  }

  async stop(): Promise<void> {
    await endChild(this.#child, 0);
  }
}

function succeeds(program: string, args: readonly string[], user: object = {}): boolean {
  return spawnSync(program, args, { cwd: '/', stdio: 'ignore', ...user }).status === 0;
}
