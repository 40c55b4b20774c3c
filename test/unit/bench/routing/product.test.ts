import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { BESIDE, measuredFiles, productVersion } from '../../../bench/routing/product.ts';

test('one version for one state of the files', () => {
  assert.match(productVersion('plimsoll'), /^[0-9a-f]{12}$/);
  assert.equal(productVersion('plimsoll'), productVersion('plimsoll'));
});

test('the version of Envoy alone does not depend on the weight rule, but on engine, load and sidecars', () => {
  assert.notEqual(productVersion('envoy'), productVersion('plimsoll'));
  const files = measuredFiles('envoy');
  assert.deepEqual(
    files.filter((file) => file.startsWith('src/core/')),
    [],
  );
  for (const file of ['src/demo/engine.ts', 'src/commands/bootstrap.ts', 'test/bench/routing/trace.ts'])
    assert.ok(files.includes(file), file);
});

test('every file that is left out is there', () => {
  for (const file of BESIDE)
    assert.ok(existsSync(fileURLToPath(new URL(`../../../../${file}`, import.meta.url))), file);
});

test('the version is of the product, its protos and what plays a cell, not of what a build makes', () => {
  const files = measuredFiles();
  for (const file of [
    'package-lock.json',
    'src/core/gain.ts',
    'protos/messages.ts',
    'test/bench/routing/play-cell.ts',
  ])
    assert.ok(files.includes(file), file);
  assert.deepEqual(
    files.filter((file) => file.includes('generated') || BESIDE.has(file)),
    [],
  );
});
