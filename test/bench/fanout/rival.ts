import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('go/', import.meta.url));
const FOLDER = fileURLToPath(new URL('../../../.cache/bench/', import.meta.url));

/**
 * Builds the Go program.
 * @param say is told why there is none.
 * @returns its path; undefined: there is no `go`, or it cannot build it.
 */
export async function buildRival(say: (line: string) => void): Promise<string | undefined> {
  mkdirSync(FOLDER, { recursive: true });
  const program = `${FOLDER}linear-cache`;
  const failure = await new Promise<string | undefined>((resolve) => {
    const go = spawn('go', ['build', '-o', program, '.'], {
      cwd: SOURCE,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    go.once('error', (error) => {
      resolve(error.message);
    });
    go.once('close', (code) => {
      resolve(code === 0 ? undefined : `go build ended with ${code}`);
    });
  });
  if (failure === undefined) return program;
  say(`no comparison with go-control-plane: ${failure}`);
  return undefined;
}
