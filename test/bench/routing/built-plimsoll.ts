import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlimsollError } from '../../../src/runtime/errors.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = join(ROOT, '.cache', 'bench');

let program: string | undefined;

/**
 * The built Plimsoll, brought up to date once in this process, and a copy of it: a build that someone makes meanwhile
 * changes nothing.
 * @returns the path of its main.js
 * @throws PlimsollError `io` when it cannot be built.
 */
export function builtPlimsoll(): string {
  program ??= build();
  return program;
}

function build(): string {
  const made = spawnSync(process.execPath, [join(ROOT, 'deploy', 'setup.mjs')], {
    stdio: ['ignore', process.stderr, 'inherit'],
  });
  if (made.status !== 0) throw new PlimsollError('io', 'Plimsoll cannot be built');
  mkdirSync(FOLDER, { recursive: true });
  removeLeftovers();
  const folder = mkdtempSync(join(FOLDER, `plimsoll-${process.pid}-`));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  for (const part of ['dist', 'protos/generated', 'package.json']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  return join(folder, 'dist', 'main.js');
}

/** Copies of processes that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(FOLDER)) {
    const [, pid] = /^plimsoll-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join(FOLDER, name), { recursive: true, force: true });
  }
}
