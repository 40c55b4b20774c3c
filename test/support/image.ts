import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Copy, inContext, type ImageStage, readCopy, readDockerfile } from './dockerfile.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const DOCKERFILE = join(checkout, 'deploy', 'docker', 'Dockerfile');
const WORKDIR = '/app';

/**
 * Does in a folder what the Dockerfile says, as far as that goes without a container: each stage has a folder of its
 * own in place of /app, with what is copied into it and nothing else. The base image is this machine's Node; a plain
 * `npm ci`, which takes the development dependencies too, is the checkout's node_modules, made by the same command.
 * Stages before the last one run side by side.
 * @returns the folder of the last stage, and the stage itself.
 */
export async function makeImage(
  folder: string,
): Promise<{ readonly app: string; readonly stage: ImageStage }> {
  const stages = readDockerfile(readFileSync(DOCKERFILE, 'utf8'));
  const last = stages.at(-1) ?? assert.fail('no stage');
  await Promise.all(stages.slice(0, -1).map((stage) => makeStage(folder, stage)));
  await makeStage(folder, last);
  return { app: folderOf(folder, last.name), stage: last };
}

/** What the image gives Node, beside the program. */
export function imageNodeOptions(): readonly string[] {
  const { instructions } = readDockerfile(readFileSync(DOCKERFILE, 'utf8')).at(-1) ?? assert.fail('no stage');
  const entry = instructions.find(({ name }) => name === 'ENTRYPOINT')?.text ?? assert.fail('no ENTRYPOINT');
  return (JSON.parse(entry) as readonly string[]).filter((word) => word.startsWith('--'));
}

/** The environment that the image gives the process, beside PATH. */
export function imageEnvironment(): Readonly<Record<string, string>> {
  const { instructions } = readDockerfile(readFileSync(DOCKERFILE, 'utf8')).at(-1) ?? assert.fail('no stage');
  const words = instructions.filter(({ name }) => name === 'ENV').flatMap(({ text }) => text.split(/\s+/));
  const pairs = words.map((word) => {
    const at = word.indexOf('=');
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== 'PATH'));
}

async function makeStage(folder: string, stage: ImageStage): Promise<void> {
  const app = folderOf(folder, stage.name);
  mkdirSync(app, { recursive: true });
  for (const { name, text } of stage.instructions) {
    if (name === 'COPY') copy(folder, app, readCopy(text));
    else if (name === 'RUN') await run(text, app);
    else if (name === 'WORKDIR') assert.equal(text, WORKDIR);
  }
}

function folderOf(folder: string, stage: string): string {
  return join(folder, stage === '' ? 'image' : stage);
}

function copy(folder: string, app: string, { from, sources, to }: Copy): void {
  const dockerignore = readFileSync(join(checkout, '.dockerignore'), 'utf8');
  for (const source of sources) {
    const origin = from === undefined ? checkout : folderOf(folder, from);
    const path = join(origin, source.replace(/^\/app\//, ''));
    const target = to.endsWith('/') ? join(app, to, source) : join(app, to);
    if (from === undefined) {
      const filter = (file: string): boolean => inContext(dockerignore, relative(checkout, file));
      assert.ok(filter(path), `.dockerignore leaves out ${source}`);
      cpSync(path, target, { recursive: true, filter });
    } else {
      // nothing is copied twice, and moving is faster
      mkdirSync(dirname(target), { recursive: true });
      renameSync(path, target);
    }
  }
}

async function run(command: string, app: string): Promise<void> {
  if (command === 'npm ci') {
    symlinkSync(join(checkout, 'node_modules'), join(app, 'node_modules'));
    return;
  }
  const env = { ...process.env, npm_config_prefer_offline: 'true' };
  try {
    await promisify(execFile)('sh', ['-c', command], { cwd: app, env });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`RUN ${command}: ${stdout}${stderr}`, { cause: error });
  }
}
