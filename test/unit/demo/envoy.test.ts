import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Envoy } from '../../../src/demo/envoy.ts';

describe('an Envoy that cannot be run', () => {
  const usual = process.env['TMPDIR'];
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
    writeFileSync(join(folder, 'file'), '');
    process.env['TMPDIR'] = folder;
  });
  after(() => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    rmSync(folder, { recursive: true });
  });

  for (const [name, code] of [
    ['nowhere', 'ENOENT'],
    ['file', 'EACCES'],
    ['file/envoy', 'ENOTDIR'],
  ] as const) {
    test(`says so and leaves no folder: ${code}`, async () => {
      const binary = join(folder, name);
      await assert.rejects(Envoy.start({ bootstrap: '{}', binary }), (error: Error) => {
        assert.equal(error.name, 'PlimsollError');
        assert.match(error.message.replace(binary, 'BINARY'), new RegExp(`^BINARY: spawn .*${code}$`));
        return true;
      });
      assert.deepEqual(readdirSync(folder), ['file']);
    });
  }
});
