import { spawn } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = `${ROOT}.cache/bench/`;

/**
 * Compiles our server as the product is compiled: what runs TypeScript as it is needs processor time of its own.
 * @returns the path of the program.
 * @throws Error when it does not compile.
 */
export async function buildServer(): Promise<string> {
  const folder = `${FOLDER}compiled/`;
  const failure = await run('npx', ['tsc', '-p', 'tsconfig.json'], HERE);
  if (failure !== undefined) throw new Error(failure);
  cpSync(`${ROOT}protos/generated`, `${folder}protos/generated`, { recursive: true });
  return `${folder}test/bench/fanout/plimsoll-server.js`;
}

/**
 * Builds the Go program.
 * @param say is told why there is none.
 * @returns its path; undefined: there is no `go`, or it cannot build it.
 */
export async function buildRival(say: (line: string) => void): Promise<string | undefined> {
  mkdirSync(FOLDER, { recursive: true });
  const program = `${FOLDER}linear-cache`;
  const failure = await run('go', ['build', '-o', program, '.'], `${HERE}go`);
  if (failure === undefined) return program;
  say(`no comparison with go-control-plane: ${failure}`);
  return undefined;
}

/** @returns why it failed. */
function run(command: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', process.stderr, 'inherit'] });
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('close', (code) => {
      resolve(code === 0 ? undefined : `${command} ${args.join(' ')} ended with ${code}`);
    });
  });
}
