import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { findEnvoy } from '../../../src/demo/envoy-binary.ts';

describe('the Envoy to run', () => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function putProgram(path: string): string {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  }

  const find = (env: NodeJS.ProcessEnv): string => findEnvoy(env, root);

  test('is that of ENVOY_BIN, else the first on PATH, else the fetched one', () => {
    const fetched = putProgram('.cache/envoy-1.40.0/envoy');
    const onPath = putProgram('bin/envoy');
    const named = putProgram('other');
    const PATH = ['', join(root, 'nowhere'), join(root, 'bin')].join(delimiter);
    assert.equal(find({ ENVOY_BIN: named, PATH }), named);
    assert.equal(find({ ENVOY_BIN: '', PATH }), onPath);
    assert.equal(find({}), fetched);
  });

  test('is a file: folders and files that cannot be run are passed over', () => {
    mkdirSync(join(root, 'folder/envoy'), { recursive: true });
    mkdirSync(join(root, 'data'));
    writeFileSync(join(root, 'data/envoy'), '', { mode: 0o644 });
    const onPath = putProgram('bin/envoy');
    const PATH = ['folder', 'data', 'bin'].map((folder) => join(root, folder)).join(delimiter);
    assert.equal(find({ PATH }), onPath);
    for (const ENVOY_BIN of [join(root, 'folder/envoy'), join(root, 'data/envoy'), '/nowhere/envoy']) {
      assert.throws(() => find({ ENVOY_BIN, PATH }), {
        message: `ENVOY_BIN: must name an executable file, is ${ENVOY_BIN}`,
      });
    }
  });

  test('is told how to be had, by the set-up only where there is one', () => {
    const message = 'no Envoy: set ENVOY_BIN to an Envoy binary, or put envoy on PATH';
    assert.throws(() => find({}), { message });
    const setup = putProgram('deploy/setup.mjs');
    assert.throws(() => find({}), { message: `${message}, or run \`node ${setup}\`, which fetches one` });
  });
});
