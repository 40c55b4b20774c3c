import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, request } from 'undici';
import { App } from '../../src/app.ts';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { formatMistake, parseConfiguration } from '../../src/config/load.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** `Locality: Prefer` on real Envoys: one in each of two zones, and one where there is no backend. */

type Zone = 'a' | 'b';
const zones: Readonly<Record<Zone, readonly GaugeBackend[]>> = {
  a: [1, 2].map((last) => new GaugeBackend(`127.0.61.${last}`)),
  b: [3, 4].map((last) => new GaugeBackend(`127.0.61.${last}`)),
};
const agent = new Agent({ connections: 64 });
let app: App;
const cleanups = new Cleanups();
let admin: string;
const envoys = new Map<string, { readonly envoy: Envoy; readonly origin: string }>();

function yaml(): string {
  const servers = (['a', 'b'] as const).flatMap((zone) =>
    zones[zone].map(({ address, port }) => `      - {Address: ${address}, Port: ${port}, Zone: ${zone}}`),
  );
  return `Xds: {Listen: 127.0.0.1:0, DrainSeconds: 0.1}
Admin: {Listen: 127.0.0.1:0}
ServerGroups:
  - Name: llama
    ServiceExtension: load-aware
    Locality: Prefer
    Servers:
${servers.join('\n')}
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector: {Timeout: 1, IntervalMilliseconds: 100, HttpMetricCollect: {Path: /metrics}}
          Scheduler:
            Scorers:
              - {Name: TotalQueuedRequests, Weight: 50}
              - {Name: RunningRequests, Weight: 50}
Listeners:
  - {Name: inference, Address: 127.0.0.1, Port: 10000, ServerGroup: llama}
`;
}

function load(zone: Zone, running: number, queued = 0): void {
  for (const backend of zones[zone]) backend.gauges = { ...backend.gauges, running, queued };
}

/** The part of what a sidecar sends that goes to a zone, by the weights that it holds. */
async function heldShare(sidecar: string, zone: Zone): Promise<number> {
  const hosts =
    (await envoys.get(sidecar)?.envoy.clusters())?.filter(({ health }) => health === 'HEALTHY') ?? [];
  const [own, all] = [hosts.filter(({ address }) => zones[zone].some(({ id }) => id === address)), hosts].map(
    (some) => some.reduce((sum, { weight }) => sum + weight, 0),
  );
  return (own ?? 0) / (all ?? 0);
}

/** Sends requests one after another. @returns how many each zone answered, and what else came. */
async function send(sidecar: string, count: number): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    const { statusCode, headers, body } = await request(`${envoys.get(sidecar)?.origin}/`, {
      dispatcher: agent,
    });
    await body.dump();
    const zone = (['a', 'b'] as const).find((of) => zones[of].some(({ id }) => id === headers['x-backend']));
    const key = statusCode === 200 ? (zone ?? 'nobody') : `status ${statusCode}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const until = (what: string, sidecar: string, zone: Zone, holds: (share: number) => boolean) =>
  waitFor(what, async () => holds(await heldShare(sidecar, zone)) || undefined);

before(async () => {
  const all = [...zones.a, ...zones.b];
  await startBackends(all, cleanups);
  for (const backend of all) backend.moving = true;
  load('a', 8);
  load('b', 8);
  const parsed = parseConfiguration(yaml(), 'zones.yaml');
  if (parsed.kind === 'invalid') throw new Error(parsed.mistakes.map(formatMistake).join('\n'));
  const { configuration } = parsed;
  const listeners = configuration.listeners.map((one) => ({ ...one, port: 0 }));
  app = new App({ configuration: { ...configuration, listeners }, clock: systemClock, log: silentLogger });
  const bound = await cleanups.own(app.start(), () => app.stop(AbortSignal.abort()));
  admin = `http://127.0.0.1:${bound.admin.port}`;
  for (const zone of ['a', 'b', 'elsewhere']) {
    const made = makeBootstrap(configuration, {
      mode: 'ads',
      xds: [`127.0.0.1:${bound.xds.port}`],
      nodeId: `sidecar-${zone}`,
      zone,
      adminPort: 0,
      json: true,
    });
    assert.equal(made.kind, 'ok');
    const envoy = await cleanups.own(Envoy.start({ bootstrap: made.value }), (started) => started.stop());
    const origin = `http://${await waitFor('the listener', () => envoy.listener('inference'))}`;
    envoys.set(zone, { envoy, origin });
  }
  cleanups.add(() => agent.destroy());
});
after(() => cleanups.run());

test('at equal load each sidecar keeps to its own zone; one of another zone balances over all', async () => {
  await until('a at home', 'a', 'a', (share) => share > 0.97);
  await until('b at home', 'b', 'b', (share) => share > 0.97);
  assert.deepEqual(await send('a', 50), new Map([['a', 50]]));
  assert.deepEqual(await send('b', 50), new Map([['b', 50]]));
  const plain = await heldShare('elsewhere', 'a');
  assert.ok(plain > 0.4 && plain < 0.6, `${plain}`);
});

test('a zone that is busier than the others sends them a part, and they nothing back', async () => {
  load('a', 16, 6);
  await until('a going elsewhere', 'a', 'b', (share) => share > 0.4);
  assert.ok((await heldShare('b', 'b')) > 0.97);
  const answers = await send('a', 50);
  assert.ok((answers.get('b') ?? 0) >= 10, [...answers].join(' '));
});

test('with equal load again it comes home', async () => {
  load('a', 8);
  await until('a at home', 'a', 'a', (share) => share > 0.97);
});

test('each sidecar has what its zone is told, and none is behind', async () => {
  await waitFor('all to be current', async () => {
    const { sidecars, groups } = (await (await request(`${admin}/state`)).body.json()) as {
      readonly sidecars: {
        readonly behind: number;
        readonly shown: readonly {
          readonly zone: string;
          readonly groups: readonly { readonly version: string }[];
        }[];
      };
      readonly groups: readonly {
        readonly streams: { readonly following: number; readonly current: number };
        readonly zones: readonly { readonly zone: string }[];
      }[];
    };
    const [group] = groups;
    const versions = new Set(sidecars.shown.map((of) => of.groups[0]?.version));
    return (
      sidecars.behind === 0 &&
      versions.size === 3 &&
      group?.streams.following === 3 &&
      group.streams.current === 3 &&
      group.zones.length === 2 &&
      sidecars.shown
        .map(({ zone }) => zone)
        .toSorted()
        .join(' ') === 'a b elsewhere'
    );
  });
});

test('a zone that dies: its sidecars go to the other one, and no request that comes then fails', async () => {
  let sent = 0;
  let dead = false;
  const late = new Map<string, number>();
  let ended = false;
  const stream = async (): Promise<void> => {
    while (!ended) {
      // what a backend has begun when it dies is lost, in whatever zone
      const counts = dead;
      for (const [key, count] of await send('a', 1)) {
        if (counts) late.set(key, (late.get(key) ?? 0) + count);
      }
      sent++;
    }
  };
  const streams = Promise.all(Array.from({ length: 8 }, stream));
  await waitFor('requests', () => sent >= 30 || undefined);
  await Promise.all(zones.a.map((backend) => backend.stop()));
  dead = true;
  await until('its sidecar to take all alike', 'a', 'b', (share) => share > 0.4);
  const reached = sent + 100;
  await waitFor('more requests', () => sent >= reached || undefined);
  ended = true;
  await streams;
  assert.deepEqual([...late.keys()], ['b']);
});
