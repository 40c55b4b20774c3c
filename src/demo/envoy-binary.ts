import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlimsollError } from '../runtime/errors.ts';

/** Where `node deploy/setup.mjs` unpacks Envoy; this file is two folders below the package's root, built or not. */
const FETCHED = fileURLToPath(new URL('../../.cache/envoy-1.40.0/envoy', import.meta.url));

/**
 * The Envoy to run: `ENVOY_BIN`, else `envoy` on `PATH`, else the one that the set-up fetched.
 * @throws PlimsollError `io` when there is none, or when `ENVOY_BIN` names no executable file.
 */
export function findEnvoy(env: NodeJS.ProcessEnv = process.env): string {
  const named = env['ENVOY_BIN'];
  if (named !== undefined && named !== '') {
    if (isExecutable(named)) return named;
    throw new PlimsollError('io', `ENVOY_BIN: must name an executable file, is ${named}`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = [...folders.map((folder) => join(folder, 'envoy')), FETCHED].find(isExecutable);
  if (found !== undefined) return found;
  throw new PlimsollError(
    'io',
    `no Envoy: set ENVOY_BIN, put envoy on PATH, or run \`node deploy/setup.mjs\`, which fetches it to ${FETCHED}`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
