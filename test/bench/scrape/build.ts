import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const COMPILED = fileURLToPath(new URL('../../../.cache/bench/compiled/test/bench/scrape/', import.meta.url));

/**
 * Compiles the programs as the product is compiled: what runs TypeScript as it is needs processor time of its own.
 * @returns the folder that they are in.
 * @throws Error when they do not compile.
 */
export async function buildPrograms(): Promise<string> {
  await promisify(execFile)('npx', ['tsc', '-p', 'tsconfig.json'], { cwd: HERE });
  return COMPILED;
}
