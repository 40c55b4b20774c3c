import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { explain } from '../../src/commands/explain.ts';
import { top } from '../../src/commands/top.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { configure, type Held, startBackends, Voyage, type VoyageOptions } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.65.${last}`));
const [light, heavy, saturated] = backends as [GaugeBackend, GaugeBackend, GaugeBackend];
const OBSERVED: VoyageOptions = {
  backends,
  weights: [100, 50, 100],
  interval: 8,
  group: 'Mode: Observe\nEnvoyLbPolicy: RoundRobin',
};
let voyage: Voyage;
const cleanups = new Cleanups();

before(async () => {
  await startBackends(backends, cleanups);
  for (const backend of backends) backend.moving = true;
  light.gauges = { queued: 0, running: 4, kv: 0.1, finished: 0 };
  heavy.gauges = { queued: 3, running: 50, kv: 0.5, finished: 0 };
  saturated.gauges = { queued: 30, running: 40, kv: 0.9, finished: 0 };
  voyage = await Voyage.start(OBSERVED, cleanups);
});

after(() => cleanups.run());

function isConfigured(held: ReadonlyMap<string, Held>): boolean {
  const shares = backends.map(({ id }) => held.get(id)?.share ?? 0);
  return [0.4, 0.2, 0.4].every((share, index) => Math.abs((shares[index] ?? 0) - share) < 1e-3);
}

async function explained(json = false): Promise<string> {
  let text = '';
  const io = { out: (part: string) => (text += part), err: (part: string) => (text += part) };
  await explain(
    { group: 'llama', backend: undefined, json, color: false, columns: undefined, admin: voyage.admin },
    io,
  );
  return text;
}

test('observed: sidecars have the configured weights, all healthy; explain, metrics and top show the rest', async () => {
  const held = await voyage.until('three backends', (of) => of.size === 3);
  assert.ok(isConfigured(held), JSON.stringify([...held]));
  const counts = await voyage.tally(200);
  assert.deepEqual(
    backends.map(({ id }) => Math.round((counts.get(id) ?? 0) / 20)),
    [4, 2, 4],
  );

  const text = await explained();
  assert.match(
    text,
    /^llama: only observed\. .*\nWith Mode: Active: weights follow the load .* \d+ % of the requests would go elsewhere/,
  );
  assert.match(text, new RegExp(`^${saturated.id}: UNHEALTHY`, 'm'));
  const group = 'server_group="llama"';
  const [observing, marked, share, shed] = await voyage.metrics(
    `plimsoll_server_group_observing{${group}}`,
    `plimsoll_backend_saturated{${group},backend="${saturated.id}"}`,
    `plimsoll_backend_share_ratio{${group},backend="${saturated.id}"}`,
    `plimsoll_server_group_shed_ratio{${group}}`,
  );
  assert.deepEqual([observing, marked, share, shed], [1, 1, 0, 0]);
  let screen = '';
  const io = { out: (part: string) => (screen += part), err: (part: string) => (screen += part) };
  const signal = new AbortController().signal;
  await top(
    { admin: voyage.admin, once: true, json: false, color: false },
    { ...io, terminal: undefined, signal },
  );
  assert.match(screen, /Observe: only shown, sidecars have the configured weights/);
});

test('a change of Mode does not wait for the next Interval, to and fro', async () => {
  voyage.app.reload(configure({ ...OBSERVED, group: 'EnvoyLbPolicy: RoundRobin' }));
  const active = await voyage.until(
    'weights by load',
    (held) => held.get(saturated.id)?.health !== 'HEALTHY' && !isConfigured(held),
    6000,
  );
  assert.ok((active.get(light.id)?.share ?? 0) > 0.6, JSON.stringify([...active]));
  assert.doesNotMatch(await explained(), /observed/);

  voyage.app.reload(configure(OBSERVED));
  await voyage.until('configured weights again', isConfigured, 6000);
  await waitFor('the metric', async () => {
    return (await voyage.metric('plimsoll_server_group_observing{server_group="llama"}')) === 1;
  });
});
