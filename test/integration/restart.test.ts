import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { BUILT_MAIN } from '../support/built-main.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { freePorts } from '../support/ports.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import { bootstrapOf, configure, startBackends, yamlOf } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const SATURATED = { queued: 30, running: 40, kv: 0.9, finished: 0 };

test('killed for 3 s under load: no request fails', async (t) => {
  const voyage = await start(t, '127.0.30', 3);
  const load = new SteadyLoad(t, voyage.origin);
  await waitFor('the load', () => load.count('status 200') > 50);
  await voyage.plane.kill();
  // how long it is away is what is tested
  await delay(3000);
  voyage.plane = await startPlane(voyage.file);
  await voyage.connected();
  const before = load.count('status 200');
  await waitFor('more of the load', () => load.count('status 200') > before + 50);
  const counts = await load.end();
  assert.deepEqual([...counts.keys()], ['status 200']);
});

test('restarted beside a saturated backend: it gets no request meanwhile', async (t) => {
  const voyage = await start(t, '127.0.31', 3);
  const [loaded] = voyage.backends as [GaugeBackend, ...GaugeBackend[]];
  loaded.gauges = SATURATED;
  await waitFor('the mark', async () => (await voyage.health(loaded)) === 'UNHEALTHY');
  const load = new SteadyLoad(t, voyage.origin);
  await waitFor('the load', () => load.count('status 200') > 20);
  const before = loaded.hits;
  await voyage.plane.kill();
  voyage.plane = await startPlane(voyage.file);
  await voyage.connected();
  const answered = load.count('status 200');
  await waitFor('more of the load', () => load.count('status 200') > answered + 100);
  await load.end();
  assert.equal(loaded.hits, before);
  assert.equal(await voyage.health(loaded), 'UNHEALTHY');
});

test('restarted with idle, equal backends: the same version, nothing is rebuilt', async (t) => {
  const voyage = await start(t, '127.0.32', 3, { moving: false });
  const before = await voyage.clusterStats();
  await voyage.plane.kill();
  voyage.plane = await startPlane(voyage.file);
  await voyage.connected();
  await waitFor('two more collections', async () => {
    const page = await voyage.plane.metrics();
    return (
      Number(/^plimsoll_server_group_evaluations_total\{server_group="llama"\} (\d+)$/m.exec(page)?.[1]) > 2
    );
  });
  const after = await voyage.clusterStats();
  assert.equal(after.get('version'), before.get('version'));
  assert.equal(after.get('membership_change'), before.get('membership_change'));
  const applied = (stats: ReadonlyMap<string, number>): number =>
    (stats.get('update_success') ?? 0) - (stats.get('update_no_rebuild') ?? 0);
  assert.equal(applied(after), applied(before), 'updates that were more than a repetition');
});

test('a bad reload changes nothing, is logged with its mistakes, and a good one clears it', async (t) => {
  const voyage = await start(t, '127.0.33', 2);
  const good = voyage.yaml;
  await writeFile(voyage.file, good.replace('Scorers:', 'Scorer:'));
  voyage.plane.reload();
  await waitFor('the refusal', async () =>
    /^plimsoll_config_last_reload_successful 0$/m.test(await voyage.plane.metrics()),
  );
  const line = voyage.plane.log.find((one) => one.includes('reload refused'));
  assert.match(line ?? '', /Scorer: .*Scorers/);
  assert.equal((await request(voyage.origin)).statusCode, 200);
  assert.equal((await voyage.hosts()).length, 2);

  await writeFile(voyage.file, good.replace(/Weight: 100}/, 'Weight: 0}'));
  voyage.plane.reload();
  await waitFor('the new configuration', async () => (await voyage.hosts()).length === 1);
  assert.match(await voyage.plane.metrics(), /^plimsoll_config_last_reload_successful 1$/m);
});

test('restarted with its group renamed, under load: no request fails', async (t) => {
  const voyage = await start(t, '127.0.35', 2, { mode: 'ads' });
  const load = new SteadyLoad(t, voyage.origin);
  await waitFor('the load', () => load.count('status 200') > 50);
  await voyage.plane.kill();
  await writeFile(voyage.file, voyage.yaml.replaceAll(/: llama\b/g, ': renamed'));
  voyage.plane = await startPlane(voyage.file);
  await waitFor('requests to the renamed group', async () => {
    const stats = await voyage.envoy.stats(/^cluster\.renamed\.upstream_rq_200$/);
    return (stats.get('cluster.renamed.upstream_rq_200') ?? 0) > 50;
  });
  assert.deepEqual([...(await load.end()).keys()], ['status 200']);
  const clusters = new Set((await voyage.envoy.clusters()).map(({ cluster }) => cluster));
  assert.ok(clusters.has('llama'), 'for what connections of before still carry');
});

test('stopped by SIGTERM it drains and ends with 0, and no request fails', async (t) => {
  const voyage = await start(t, '127.0.34', 2);
  const load = new SteadyLoad(t, voyage.origin);
  await waitFor('the load', () => load.count('status 200') > 20);
  await voyage.plane.stop();
  assert.equal(voyage.plane.exitCode, 0);
  const answered = load.count('status 200');
  await waitFor('more of the load', () => load.count('status 200') > answered + 50);
  assert.deepEqual([...(await load.end()).keys()], ['status 200']);
});

function startPlane(config: string): Promise<ControlPlane> {
  return ControlPlane.start({ config, program: BUILT_MAIN });
}

/** The control plane as a process of its own, on ports that it keeps over restarts, before a real Envoy. */
class Fleet {
  plane: ControlPlane;
  readonly envoy: Envoy;
  readonly origin: string;
  readonly file: string;
  readonly yaml: string;
  readonly backends: readonly GaugeBackend[];

  constructor(parts: Pick<Fleet, 'plane' | 'envoy' | 'origin' | 'file' | 'yaml' | 'backends'>) {
    this.plane = parts.plane;
    this.envoy = parts.envoy;
    this.origin = parts.origin;
    this.file = parts.file;
    this.yaml = parts.yaml;
    this.backends = parts.backends;
  }

  async hosts() {
    return (await this.envoy.clusters()).filter((host) => host.cluster === 'llama');
  }

  async health(backend: GaugeBackend): Promise<string | undefined> {
    return (await this.hosts()).find((host) => host.address === backend.id)?.health;
  }

  /** Waits until the plane that runs has a stream. A sidecar that has all already may get and acknowledge nothing. */
  connected(): Promise<boolean> {
    return waitFor('the sidecar at the new control plane', async () =>
      /^plimsoll_xds_streams\{service="eds",variant="delta"\} 1$/m.test(await this.plane.metrics()),
    );
  }

  async clusterStats(): Promise<ReadonlyMap<string, number>> {
    const stats = await this.envoy.stats(/^cluster\.llama\./);
    return new Map([...stats].map(([name, value]) => [name.replace('cluster.llama.', ''), value]));
  }
}

async function start(
  t: TestContext,
  network: string,
  count: number,
  { moving = true, mode = 'eds' }: { readonly moving?: boolean; readonly mode?: 'ads' | 'eds' } = {},
): Promise<Fleet> {
  const backends = Array.from({ length: count }, (_, i) => new GaugeBackend(`${network}.${i + 1}`));
  const cleanups = new Cleanups();
  t.after(() => cleanups.run());
  await startBackends(backends, cleanups);
  for (const backend of backends) backend.moving = moving;
  const made = mkdtemp(join(tmpdir(), 'plimsoll-test-'));
  const folder = await cleanups.own(made, (path) => rm(path, { recursive: true }));
  const file = join(folder, 'plimsoll.yaml');
  const [xds, admin, listener] = (await freePorts(3)) as [number, number, number];
  const yaml = yamlOf({ backends }, { xds, admin, listener });
  // with a static listener its port is the kernel's choice
  await writeFile(file, yaml);
  const plane = await cleanups.own(startPlane(file), (first) => first.kill());
  const starting = Envoy.start({ bootstrap: bootstrapOf(configure({ backends }), xds, mode) });
  const envoy = await cleanups.own(starting, (started) => started.stop());
  const address = await waitFor('the listener', () => envoy.listener('inference'));
  const fleet = new Fleet({ plane, envoy, origin: `http://${address}`, file, yaml, backends });
  // the one that runs by then
  cleanups.add(() => fleet.plane.kill());
  return fleet;
}
