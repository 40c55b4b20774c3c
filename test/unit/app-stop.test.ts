import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { App } from '../../src/app.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { adminSettings, configuration, listener, serverGroup } from '../support/configuration.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loadAwareGroup } from '../support/fleet.ts';
import { waitFor } from '../support/wait-for.ts';
import { xdsSettings } from '../support/xds-settings.ts';

test('what a run in flight publishes while it stops sets no timer: nothing holds the process', async (t) => {
  const asked: Socket[] = [];
  const silent = createServer((socket) => {
    socket.on('error', () => undefined);
    asked.push(socket);
  }).listen(0, '127.0.84.9');
  await once(silent, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-stop-'));
  t.after(async () => {
    for (const socket of asked) socket.destroy();
    silent.close();
    await rm(folder, { recursive: true });
  });
  const path = join(folder, 'backends.yaml');
  const { port } = silent.address() as { readonly port: number };
  await writeFile(path, JSON.stringify([{ Address: '127.0.84.9', Port: port }]));

  const clock = new FakeClock();
  const before = [serverGroup('plain'), serverGroup('other')];
  const settings = configuration({
    xds: { ...xdsSettings(), listen: { host: '127.0.0.1', port: 0 }, drainSeconds: 0 },
    admin: adminSettings(),
    serverGroups: before,
    listeners: [listener('plain')],
  });
  const app = new App({ configuration: settings, clock, log: silentLogger });
  await app.start();
  // a group comes whose backends are not known yet, and another one goes: there are steps to be taken
  const discovery = { kind: 'File', path, format: 'Plimsoll' } as const;
  app.reload({
    ...settings,
    serverGroups: [serverGroup('plain'), { ...loadAwareGroup([]), discovery }],
  });
  await waitFor('the first collection', async () => {
    await clock.advance(100);
    return asked.length > 0;
  });

  const stopped = app.stop(AbortSignal.abort());
  let over = false;
  void stopped.then(() => {
    over = true;
  });
  await waitFor('the end', async () => {
    if (!over) await clock.advance(100);
    return over;
  });
  assert.equal(clock.pending, 0);
});
