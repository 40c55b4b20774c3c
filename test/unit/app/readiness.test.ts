import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { request } from 'undici';
import { App } from '../../../src/app.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { adminSettings, configuration, serverGroup } from '../../support/configuration.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

async function setUp(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-ready-'));
  t.after(() => rm(folder, { recursive: true }));
  const missing = { kind: 'File', path: join(folder, 'backends.yaml'), format: 'Plimsoll' } as const;
  const clock = new FakeClock();
  const alone = configuration({
    xds: { ...xdsSettings(), listen: { host: '127.0.0.1', port: 0 }, drainSeconds: 0 },
    admin: adminSettings(),
    serverGroups: [serverGroup('plain')],
    listeners: [],
  });
  const waiting = serverGroup('new', { servers: [], discovery: missing });
  return { clock, alone, withOneThatWaits: { ...alone, serverGroups: [serverGroup('plain'), waiting] } };
}

async function begin(t: TestContext, of: ReturnType<typeof configuration>, clock: FakeClock) {
  const app = new App({ configuration: of, clock, log: silentLogger });
  const { admin } = await app.start();
  t.after(async () => {
    const stopped = app.stop(AbortSignal.abort());
    await clock.advance(1000);
    await stopped;
  });
  const readiness = async () => {
    const { statusCode, body } = await request(`http://127.0.0.1:${admin.port}/readyz`);
    return { status: statusCode, lines: (await body.text()).trim().split('\n') };
  };
  const told = () =>
    waitFor('the reason', async () => {
      await clock.advance(1000);
      const { status, lines } = await readiness();
      return lines.some((line) => line.includes('there is no such file')) && { status, lines };
    });
  return { app, readiness, told };
}

test('a group that a reload adds and that has no list takes the others nothing: it stays ready, and says why', async (t) => {
  const { clock, alone, withOneThatWaits } = await setUp(t);
  const { app, readiness, told } = await begin(t, alone, clock);
  assert.deepEqual(await readiness(), { status: 200, lines: ['ready'] });
  app.reload(withOneThatWaits);
  assert.equal((await readiness()).status, 200);
  const { status, lines } = await told();
  assert.deepEqual([status, lines.length, lines[0]], [200, 2, 'ready']);
  assert.match(lines[1] ?? '', /^new: waiting for discovery: .*there is no such file$/);
  app.reload(alone);
  assert.deepEqual(await readiness(), { status: 200, lines: ['ready'] });
});

test('at the start it is not ready, until a reload leaves out the group that waits', async (t) => {
  const { clock, alone, withOneThatWaits } = await setUp(t);
  const { app, readiness, told } = await begin(t, withOneThatWaits, clock);
  const { status, lines } = await told();
  assert.deepEqual([status, lines[0]], [503, 'not ready']);
  app.reload(alone);
  assert.deepEqual(await readiness(), { status: 200, lines: ['ready'] });
});
