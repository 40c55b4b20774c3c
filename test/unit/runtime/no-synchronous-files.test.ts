import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const SOURCE = fileURLToPath(new URL('../../../src', import.meta.url));
/** What a control plane is made of. */
const STAGES = ['admin', 'app', 'collect', 'config', 'core', 'discovery', 'publish', 'runtime', 'xds'];
/** Files that are never on a network file system that may hang, or are read before anything is served. */
const HARMLESS = new Map([
  ['discovery/kubernetes/exec-credential.ts', ['closeSync', 'openSync']],
  ['runtime/open-files.ts', ['readFileSync']],
  ['runtime/version.ts', ['readFileSync']],
  ['xds/protos.ts', ['readFileSync']],
]);

test('a running control plane waits for no file system within the event loop', () => {
  const found = new Map<string, string[]>();
  for (const stage of STAGES) {
    for (const name of readdirSync(join(SOURCE, stage), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const text = readFileSync(join(SOURCE, stage, name), 'utf8');
      const calls = [...text.matchAll(/\b(\w+Sync)\(/g)].map(([, call = '']) => call);
      if (calls.length > 0) found.set(`${stage}/${name}`, [...new Set(calls)].toSorted());
    }
  }
  assert.deepEqual(found, HARMLESS);
});
