import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import type { GroupExplanation } from '../../src/admin/explanation.ts';
import type { SampleLine } from '../../src/admin/sample-shape.ts';
import type { State } from '../../src/admin/state-shape.ts';
import { App } from '../../src/app.ts';
import { wrongInExplanation } from '../../src/commands/explanation-shape.ts';
import { wrongInState } from '../../src/commands/state-check.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { adminSettings, configuration, serverGroup } from '../support/configuration.ts';
import { loadAwareGroup } from '../support/fleet.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { waitFor } from '../support/wait-for.ts';
import { xdsSettings } from '../support/xds-settings.ts';

const backends = [1, 2].map((last) => new GaugeBackend(`127.0.84.${last}`));
let folder: string;
let app: App;
let origin: string;

const path = (): string => join(folder, 'backends.yaml');
const get = async (what: string) => {
  const { statusCode, body } = await request(origin + what);
  return { status: statusCode, text: await body.text() };
};
const state = async (): Promise<State> => JSON.parse((await get('/state')).text) as State;
const write = async (of: readonly GaugeBackend[]): Promise<void> => {
  const list = of.map(({ address, port }) => ({ Address: address, Port: port }));
  await writeFile(`${path()}.new`, JSON.stringify(list));
  await rename(`${path()}.new`, path());
};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-app-'));
  await Promise.all(backends.map((backend) => backend.start()));
  const discovery = { kind: 'File', path: path(), format: 'Plimsoll' } as const;
  app = new App({
    configuration: configuration({
      xds: { ...xdsSettings(), listen: { host: '127.0.0.1', port: 0 }, drainSeconds: 0 },
      admin: adminSettings(),
      serverGroups: [{ ...loadAwareGroup([]), discovery, drainSeconds: 1 }, serverGroup('plain')],
      listeners: [],
    }),
    clock: systemClock,
    log: silentLogger,
  });
  const bound = await app.start();
  origin = `http://127.0.0.1:${bound.admin.port}`;
});

after(async () => {
  await app.stop(AbortSignal.abort());
  await Promise.all(backends.map((backend) => backend.stop()));
  await rm(folder, { recursive: true });
});

test('a group that waits for its backends is seen to, everywhere', async () => {
  const why = /backends\.yaml: cannot be read: there is no such file$/;
  const ready = await waitFor('why', async () => {
    const answer = await get('/readyz');
    return answer.text.includes('cannot be read') && answer;
  });
  assert.equal(ready.status, 503);
  assert.match(ready.text.trim(), /^not ready\nllama: waiting for discovery: .*/);
  assert.match(ready.text.trim(), why);
  const { groups, ready: isReady } = await state();
  assert.equal(isReady, false);
  assert.match(groups[0]?.discovery?.waiting ?? '', why);
  assert.match(groups[0]?.warnings[0]?.text ?? '', /^waiting for discovery: file /);
  assert.deepEqual([groups[1]?.name, groups[1]?.discovery, groups[1]?.rows.length], ['plain', null, 2]);
  const { status, text } = await get('/explain/llama');
  assert.equal(status, 503);
  assert.match(
    text,
    /llama has not been evaluated yet, it waits for discovery: file .*: there is no such file/s,
  );
});

test('its first list makes it ready; what comes and goes is told', async () => {
  const { body } = await request(`${origin}/samples`);
  const samples: SampleLine[] = [];
  void (async () => {
    let text = '';
    for await (const chunk of body) {
      text += String(chunk);
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      samples.push(...lines.map((line) => JSON.parse(line) as SampleLine));
    }
  })().catch(() => undefined);
  await write(backends);
  await waitFor('readiness', async () => (await get('/readyz')).status === 200);
  const known = await waitFor('its rows', async () => {
    const current = await state();
    return current.groups[0]?.rows.length === 2 && current;
  });
  assert.equal(wrongInState(known), undefined);
  assert.deepEqual([known.groups[0]?.discovery?.listed, known.groups[0]?.discovery?.waiting], [2, null]);
  const explained = JSON.parse((await get('/explain/llama')).text) as GroupExplanation;
  assert.equal(wrongInExplanation(explained), undefined);
  assert.equal(explained.discovery?.listedBackends, 2);
  await write(backends.slice(0, 1));
  await waitFor('the drain', async () => (await state()).groups[0]?.discovery?.draining.total === 1);
  await waitFor('its end', async () => (await state()).groups[0]?.rows.length === 1);
  body.destroy();
  const told = samples.flatMap((line) => ('groups' in line ? line.groups.map((of) => of.backends) : []));
  assert.ok(told.some((of) => of.length === 2 && of.every(({ draining }) => draining === undefined)));
  assert.ok(told.some((of) => of.some(({ draining }) => draining === true)));
  assert.equal(told.at(-1)?.length, 1);
});
