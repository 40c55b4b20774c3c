import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepFromOutliving } from '../../src/demo/children.ts';

/** What `go.mod` of the tools asks for; a newer one that a tool asks for is fetched by Go itself. */
const MINOR_MINIMUM = 25;
const PROGRESS_SECONDS = 30;
const LOG_LINES = 20;

const cache = fileURLToPath(new URL('../../.cache/go', import.meta.url));

/** A Go program that tests run, built from the Go module proxy. */
export interface GoTool {
  /** The file's name. */
  readonly name: string;
  readonly source:
    | {
        /** A command of a module that has no `replace` lines. */
        readonly kind: 'package';
        /** `sigs.k8s.io/kustomize/kustomize/v5` */
        readonly path: string;
        readonly version: string;
      }
    | {
        /** A `main.go` of ours, with the `go.mod` and `go.sum` that say what it is made of. */
        readonly kind: 'folder';
        readonly folder: string;
      };
  readonly tags?: readonly string[];
  /** What the linker gets beside `-s -w`: `-X k8s.io/component-base/version.gitVersion=v1.35.4` */
  readonly linkerFlags?: readonly string[];
}

/**
 * Builds a tool into the git-ignored `.cache/go`, where a run before this one has not done so. The first time takes
 * minutes; progress goes to stderr.
 * @returns the program's path.
 * @throws Error without Go 1.25 or newer, and where it does not build; the message has the end of what Go said.
 */
export async function goTool(tool: GoTool): Promise<string> {
  const program = join(cache, `${tool.name}-${keyOf(tool)}`, tool.name);
  if (existsSync(program)) return program;
  checkGo(tool.name);
  mkdirSync(cache, { recursive: true });
  const partial = mkdtempSync(join(cache, 'partial-'));
  try {
    await build(tool, partial);
    const built = join(partial, tool.name);
    if (!existsSync(built)) throw new Error(`go built no program ${tool.name}`);
    const folder = join(cache, `${tool.name}-${keyOf(tool)}`);
    // another run may have been faster
    if (!existsSync(program)) renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return program;
}

/**
 * The folder of a module's files, read-only, fetched by the first call for it.
 * @throws Error without Go 1.25 or newer, and where the module proxy does not have it.
 */
export async function goModule(path: string, version: string): Promise<string> {
  checkGo(path);
  const output = await run(['mod', 'download', '-json', `${path}@${version}`], { what: `fetching ${path}` });
  const { Dir: folder } = JSON.parse(output) as { readonly Dir: string };
  return folder;
}

function keyOf({ source, tags, linkerFlags }: GoTool): string {
  const hash = createHash('sha256').update(JSON.stringify([tags, linkerFlags]));
  if (source.kind === 'package') hash.update(`${source.path}@${source.version}`);
  else {
    for (const name of readdirSync(source.folder).toSorted()) {
      hash.update(`${name}\n`).update(readFileSync(join(source.folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function build({ name, source, tags = [], linkerFlags = [] }: GoTool, to: string): Promise<void> {
  const flags = [
    '-trimpath',
    `-tags=${tags.join(',')}`,
    `-ldflags=${['-s', '-w', ...linkerFlags].join(' ')}`,
  ];
  const what = `building ${name}`;
  if (source.kind === 'package') {
    const env = { GOBIN: to };
    await run(['install', ...flags, `${source.path}@${source.version}`], { what, env, cwd: to });
  } else {
    const { folder } = source;
    await run(['build', ...flags, '-mod=readonly', '-o', join(to, name), '.'], { what, cwd: folder });
  }
}

function checkGo(name: string): void {
  const needed = `Go 1.${MINOR_MINIMUM} or newer is needed for ${name}`;
  const { status, stdout, error } = spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' });
  if (status !== 0) {
    const isMissing = error?.message.endsWith('ENOENT') === true;
    throw new Error(
      `${needed}: ${isMissing ? 'there is no go on PATH' : (error?.message ?? 'go env failed')}`,
    );
  }
  const minor = /^go1\.(\d+)/.exec(stdout)?.[1];
  if (minor === undefined || Number(minor) < MINOR_MINIMUM)
    throw new Error(`${needed}: it is ${stdout.trim()}`);
}

interface How {
  /** For progress and errors. */
  readonly what: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** @returns what Go wrote to its standard output. */
async function run(args: readonly string[], { what, env, cwd }: How): Promise<string> {
  const started = performance.now();
  const child = spawn('go', args, {
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '', GOWORK: 'off', ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  keepFromOutliving(child);
  const timer = setInterval(() => {
    process.stderr.write(`go: ${what}, ${Math.round((performance.now() - started) / 1000)} s so far\n`);
  }, PROGRESS_SECONDS * 1000);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const code = await ended(child).finally(() => {
    clearInterval(timer);
  });
  if (code === 0) return Buffer.concat(stdout).toString();
  const log = Buffer.concat([...stdout, ...stderr]).toString();
  const end = log.trimEnd().split('\n').slice(-LOG_LINES).join('\n');
  throw new Error(`${what}: go ended with ${code}\n${end}`);
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
}
