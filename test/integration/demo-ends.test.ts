import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Stage } from '../../src/demo/stage.ts';
import { children, runDemo, runDemoUntil } from '../support/demo-run.ts';
import { waitFor } from '../support/wait-for.ts';

describe('demo', () => {
  test('interrupted, it ends in order and leaves nothing behind', async () => {
    const { code, out, shown } = await runDemoUntil(/^act 1/);
    assert.deepEqual([code, out, shown.at(-1)], [1, '', 'interrupted\n']);
    assert.deepEqual(children(), []);
  });

  test('interrupted while Envoy starts, it ends as well', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
    const changed = { ENVOY_BIN: join(folder, 'envoy'), TMPDIR: folder };
    const environment = { ...process.env };
    Object.assign(process.env, changed);
    t.after(async () => {
      for (const name of Object.keys(changed)) delete process.env[name];
      Object.assign(process.env, environment);
      await rm(folder, { recursive: true });
    });
    const neverReady = `#!${process.execPath}
      require('node:fs').writeFileSync(__dirname + '/started', '');
      setInterval(() => undefined, 1000);`;
    await writeFile(changed.ENVOY_BIN, neverReady, { mode: 0o755 });
    const stop = new AbortController();
    const run = runDemo(stop);
    await waitFor('Envoy', () => existsSync(join(folder, 'started')), 30_000);
    stop.abort();
    const { code, out, shown } = await run;
    assert.deepEqual([code, out, shown.at(-1)], [1, '', 'interrupted\n']);
    assert.deepEqual(children(), []);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('plimsoll-')),
      [],
    );
  });

  test('interrupted between two acts, or while a control plane starts, nobody waits; what starts is where it was', async () => {
    const stage = await Stage.open(2, 1, new AbortController().signal);
    try {
      // so that weights never become load-aware
      for (const backend of stage.backends) backend.metrics = { kind: 'hang' };
      const stop = new AbortController();
      const isReason = (error: unknown): boolean => error === stop.signal.reason;
      const changing = assert.rejects(stage.becomeLoadAware(stop.signal), isReason);
      stop.abort();
      await changing;
      await stage.plane.kill();
      await assert.rejects(stage.restartPlane(stop.signal), isReason);
      const told = stage.addresses;
      await stage.restartPlane(new AbortController().signal);
      assert.deepEqual(stage.addresses, told);
    } finally {
      await stage.close(false);
    }
    assert.deepEqual(children(), []);
  });
});
