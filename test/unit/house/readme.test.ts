import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const rootFile = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');

test('no block of shell writes one file twice: who pastes it whole would lose the first', () => {
  for (const name of ['README.md', 'deploy/README.md', 'deploy/kubernetes/README.md']) {
    for (const [block] of rootFile(name).matchAll(/^ *```sh\n[^]*?^ *```$/gm)) {
      const written = [...block.matchAll(/ > ([\w./-]+)$/gm)].map(([, file]) => file);
      assert.deepEqual(written, [...new Set(written)], `${name}: ${block}`);
    }
  }
});

test('the Envoy of the README is where setup puts it', () => {
  const version = /ENVOY_VERSION = '([\d.]+)'/.exec(rootFile('deploy/setup.mjs'))?.[1] ?? assert.fail();
  const [, rest = ''] = rootFile('README.md').split('\n## Point a sidecar at it\n');
  const [section = ''] = rest.split('\n## ');
  assert.ok(section.includes(`\n.cache/envoy-${version}/envoy -c envoy.yaml `));
});
