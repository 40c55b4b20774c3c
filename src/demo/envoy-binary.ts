import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlimsollError } from '../runtime/errors.ts';

/** The folder of package.json: this file is two folders below it, built or not. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The Envoy to run: `ENVOY_BIN`, else `envoy` on `PATH`, else the one that the set-up of a checkout fetched.
 * @throws PlimsollError `io` when there is none, or when `ENVOY_BIN` names no executable file.
 */
export function findEnvoy(env: NodeJS.ProcessEnv = process.env, root = ROOT): string {
  const named = env['ENVOY_BIN'];
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new PlimsollError('io', `ENVOY_BIN: must name an executable file, is ${named}`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const fetched = join(root, '.cache', 'envoy-1.40.0', 'envoy');
  const found = [...folders.map((folder) => join(folder, 'envoy')), fetched].find(isExecutable);
  if (found !== undefined) return found;
  throw new PlimsollError(
    'io',
    `no Envoy: set ENVOY_BIN to an Envoy binary, or put envoy on PATH${orSetUp(root)}`,
  );
}

/** What only a checkout has: an installed package comes without the set-up. */
function orSetUp(root: string): string {
  const setup = join(root, 'deploy', 'setup.mjs');
  return existsSync(setup) ? `, or run \`node ${setup}\`, which fetches one` : '';
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
