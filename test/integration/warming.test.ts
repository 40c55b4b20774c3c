/** Whatever a reload changes, under load: no request fails, and nothing waits for a timeout. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parse, stringify } from 'yaml';
import type { ServerGroup } from '../../src/core/model/server-group.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import type { RolloutTimes } from '../../src/publish/rollout.ts';
import { type Resource, SnapshotStore } from '../../src/publish/snapshot-store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { adsBootstrap } from '../../src/xds/bootstrap.ts';
import { encodeAssignment } from '../../src/xds/resources/assignment.ts';
import { clusterJson } from '../../src/xds/resources/cluster.ts';
import { adsSource, deltaGrpc } from '../../src/xds/resources/config-source.ts';
import { encodeProtoJson } from '../../src/xds/resources/proto-json.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { XdsServer } from '../../src/xds/server.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import { Cleanups } from '../support/cleanups.ts';
import { serverGroup } from '../support/configuration.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import { configure, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';
import { xdsObserver } from '../support/xds-observer.ts';
import { xdsSettings } from '../support/xds-settings.ts';

/** Part of Envoy's bootstrap: where it gets its resources from. */
interface Bootstrap {
  readonly dynamic_resources: Readonly<Record<string, object>>;
}

const TRANSPORTS: readonly (readonly [name: string, sources: (made: Bootstrap) => object])[] = [
  ['aggregated, delta', (made) => made.dynamic_resources],
  [
    'aggregated, state of the world',
    ({ dynamic_resources: made }) => ({ ...made, ads_config: { ...made['ads_config'], api_type: 'GRPC' } }),
  ],
  ['separate streams, delta', () => separate('DELTA_GRPC')],
  ['separate streams, state of the world', () => separate('GRPC')],
];

function separate(apiType: string): object {
  const source = { resource_api_version: 'V3', api_config_source: { ...deltaGrpc, api_type: apiType } };
  return { cds_config: source, lds_config: source };
}

/** The steps of a reload take seconds, and the last one minutes. */
const HURRIED: RolloutTimes = { followMs: 300, retireMs: 1500 };

/** Envoy's own wait for the endpoints of a new cluster ends after 5 s: what takes as long has waited for it. */
const WITHOUT_TIMEOUT_MS = 4_000;

for (const [index, [transport, sources]] of TRANSPORTS.entries()) {
  test(`${transport}: changed clusters and routes are warm at once`, async (t) => {
    const { voyage, reload } = await start(t, `127.0.4${index}`, sources);
    const load = new SteadyLoad(t, voyage.origin);
    await progress(load);
    for (const envoyLbPolicy of ['RoundRobin', 'LeastRequest', 'RoundRobin'] as const) {
      reload({ envoyLbPolicy });
      const wanted = `llama ${envoyLbPolicy === 'RoundRobin' ? 'ROUND_ROBIN' : 'LEAST_REQUEST'}`;
      await soon(wanted, async () => (await clustersOf(voyage)).join() === wanted);
      await progress(load);
    }
    for (const name of ['mistral', 'llama']) {
      reload({ name });
      // once more, as a reloader does that sees two files change
      reload({ name });
      await soon(`routes to ${name}`, async () => (await routeOf(voyage)) === name);
      await progress(load);
      await soon('the end of the other', async () => (await clustersOf(voyage)).length === 1);
      await progress(load);
    }
    assert.deepEqual([...(await load.end()).keys()], ['status 200']);
    const stats = await voyage.envoy.stats(/init_fetch_timeout$|update_rejected$|warming_clusters$/);
    assert.deepEqual(
      [...stats].filter(([, value]) => value !== 0),
      [],
    );
  });
}

test('a new cluster that shares the endpoints of another is warm at once', async (t) => {
  const store = new SnapshotStore();
  const group = serverGroup('llama');
  const endpoints = encodeAssignment({ serverGroup: 'llama', endpoints: [], dropShare: 0 });
  const publish = (...names: readonly string[]): void => {
    const clusters = names.map((name) =>
      resourceOf(
        TYPE_URLS.cluster,
        name,
        encodeProtoJson(TYPE_URLS.cluster, { ...clusterJson(group, adsSource), name }),
      ),
    );
    store.set({
      resources: new Map([
        [TYPE_URLS.cluster, new Map(clusters.map((cluster) => [cluster.name, cluster]))],
        [TYPE_URLS.endpoint, new Map([['llama', resourceOf(TYPE_URLS.endpoint, 'llama', endpoints)]])],
      ]),
      held: new Map(),
      assignments: new Map(),
    });
  };
  publish('one');
  const server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings: xdsSettings(),
    clock: systemClock,
    log: silentLogger,
    observer: xdsObserver({ rejected: ({ message }) => assert.fail(message) }),
  });
  t.after(() => server.stop());
  const xds = await server.listen({ host: '127.0.0.1', port: 0 });
  const settings = { xds: [xds], tls: undefined, nodeId: 'sidecar', nodeCluster: 'fleet', adminPort: 0 };
  const envoy = await Envoy.start({ bootstrap: JSON.stringify(adsBootstrap(settings)) });
  t.after(() => envoy.stop());
  publish('one', 'two');
  await soon('the second', async () => (await dump(envoy, 'dynamic_active_clusters')).length === 2);
});

function resourceOf(typeUrl: string, name: string, bytes: Uint8Array): Resource {
  return { typeUrl, name, version: '1', serverGroup: 'llama', bytes };
}

async function start(t: TestContext, network: string, sources: (made: Bootstrap) => object) {
  const backends = [1, 2].map((host) => new GaugeBackend(`${network}.${host}`));
  const cleanups = new Cleanups();
  t.after(() => cleanups.run());
  await startBackends(backends, cleanups);
  const rewrite = (bootstrap: string): string => {
    const made = parse(bootstrap) as Bootstrap;
    return stringify({ ...made, dynamic_resources: sources(made) });
  };
  const options = { backends, loadAware: false, rewrite, rolloutTimes: HURRIED };
  const voyage = await Voyage.start(options, cleanups);
  const reload = (change: Partial<ServerGroup>): void => {
    const configuration = configure(options);
    const serverGroups = configuration.serverGroups.map((group) => ({ ...group, ...change }));
    const name = change.name ?? 'llama';
    const listeners = configuration.listeners.map((listener) => ({ ...listener, serverGroup: name }));
    voyage.app.reload({ ...configuration, serverGroups, listeners });
  };
  return { voyage, reload };
}

function soon(what: string, probe: () => Promise<boolean>): Promise<boolean> {
  return waitFor(what, probe, WITHOUT_TIMEOUT_MS);
}

async function progress(load: SteadyLoad): Promise<void> {
  const answered = load.count('status 200');
  await waitFor('more of the load', () => load.count('status 200') > answered + 50);
}

/** `NAME POLICY` of each cluster that Envoy has from us and uses. */
async function clustersOf(voyage: Voyage): Promise<readonly string[]> {
  const configs = await dump(voyage.envoy, 'dynamic_active_clusters');
  return configs.map(({ cluster }) => `${cluster?.name} ${cluster?.lb_policy ?? 'ROUND_ROBIN'}`);
}

/** The cluster that the listener sends to. */
async function routeOf(voyage: Voyage): Promise<string | undefined> {
  const [config] = await dump(voyage.envoy, 'dynamic_route_configs');
  return config?.route_config?.virtual_hosts[0]?.routes[0]?.route.cluster;
}

interface DumpedConfig {
  readonly cluster?: { readonly name: string; readonly lb_policy?: string };
  readonly route_config?: {
    readonly virtual_hosts: readonly {
      readonly routes: readonly { readonly route: { cluster: string } }[];
    }[];
  };
}

async function dump(envoy: Envoy, resource: string): Promise<readonly DumpedConfig[]> {
  const page = await envoy.get(`/config_dump?resource=${resource}`);
  return (JSON.parse(page) as { configs?: DumpedConfig[] }).configs ?? [];
}
