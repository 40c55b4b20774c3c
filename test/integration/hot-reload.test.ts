import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { request } from 'undici';
import type { State } from '../../src/admin/state-shape.ts';
import { ConfigReloader } from '../../src/commands/config-reloader.ts';
import { INITIAL_STAY } from '../../src/core/residence.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend, pageOf } from '../support/gauge-backend.ts';
import { SteadyLoad } from '../support/steady-load.ts';
import { named } from '../support/troubleshooting.ts';
import { startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const RELOADS = 200;

/** Two groups with listeners: `llama`, which is edited all the time, and `mistral`, which never is. */
interface Edit {
  readonly servers?: number;
  readonly weight?: number;
  readonly interval?: number;
  readonly extra?: string;
}

const llama = [1, 2, 3].map((last) => new GaugeBackend(`127.0.57.${last}`));
const mistral = [4, 5].map((last) => new GaugeBackend(`127.0.57.${last}`));
/** From where each backend of mistral is asked for its metrics. */
const askers = new Map<string, Set<number | undefined>>();

let folder: string;
let voyage: Voyage;
let reloader: ConfigReloader;
const cleanups = new Cleanups();
/** What the control plane was told, as `cause outcome`. */
const told: string[] = [];
const file = (): string => join(folder, 'plimsoll.yaml');

before(async () => {
  const made = mkdtemp(join(tmpdir(), 'plimsoll-hot-'));
  folder = await cleanups.own(made, (path) => rm(path, { recursive: true }));
  await startBackends([...llama, ...mistral], cleanups);
  for (const backend of mistral) {
    const ports = new Set<number | undefined>();
    askers.set(backend.id, ports);
    backend.metrics = ({ socket }, response) => {
      ports.add(socket.remotePort);
      // an engine at work: it finishes something between two collections
      backend.gauges = { ...backend.gauges, running: 4, finished: backend.gauges.finished + 2 };
      response.end(pageOf(backend.gauges));
    };
  }
  // as Kubernetes mounts a ConfigMap
  await mount('v1', yaml({}));
  await symlink(join('..data', 'plimsoll.yaml'), file());
  voyage = await Voyage.start(
    {
      backends: llama.slice(0, 2),
      rolloutTimes: { followMs: 200, retireMs: 500 },
    },
    cleanups,
  );
  const { app } = voyage;
  reloader = new ConfigReloader({
    file: file(),
    loaded: { kind: 'invalid', mistakes: [] },
    clock: systemClock,
    app: {
      reload: (configuration, because, fields) => {
        // on ports of the kernel's choice
        const listeners = configuration.listeners.map((listener) => ({ ...listener, port: 0 }));
        app.reload({ ...configuration, listeners }, because, fields);
        told.push(`${because} taken`);
      },
      reloadRefused: (because, mistakes) => {
        app.reloadRefused(because, mistakes);
        told.push(`${because} refused`);
      },
    },
  });
  cleanups.add(() => reloader.close());
  await reload('taken');
});

after(() => cleanups.run());

describe(`${RELOADS} reloads under load, then one by a swapped ConfigMap`, () => {
  test('lose no request, leave nothing behind, and touch only what they change', async (t) => {
    const second = await waitFor('the second listener', () => voyage.envoy.listener('second'));
    const load = new SteadyLoad(t, `http://${second}`);
    await voyage.underLoad(async () => {
      await edits(0, 16);
      await waitFor('something learned', async () => learned(await untouched()) > 1);
      const calm = await rest();
      const apart = await untouched();
      await edits(16, RELOADS);
      const now = await rest();
      assert.deepEqual(now.counts, calm.counts);
      // idle connections take some seconds to end, leaked ones do not
      await waitFor(
        `handles as before: ${JSON.stringify(calm.handles)}`,
        () => {
          const grown = Object.entries(handles()).filter(
            ([kind, count]) => count > (calm.handles[kind] ?? 0) + 3,
          );
          if (grown.length > 0) throw new Error(JSON.stringify(grown));
          return true;
        },
        20_000,
      );
      const still = await untouched();
      assert.ok(still.evaluations > apart.evaluations);
      // what was learned by then is no nearer to where it begins
      const way = [apart, still].map(learned);
      assert.ok((way[1] ?? 0) > 0.8 * (way[0] ?? 0), way.join(' '));
      assert.deepEqual(
        { ...still, evaluations: 0, staySeconds: 0 },
        { ...apart, evaluations: 0, staySeconds: 0 },
      );
      // the last word has the ConfigMap
      const known = told.length;
      await mount('v2', yaml({ weight: 25 }));
      await waitFor('the swap', () => told.slice(known).includes('file taken'));
      await voyage.until('the last configuration', (held) => {
        const [one, other] = llama.map(({ id }) => held.get(id)?.share ?? 0);
        return held.size === 2 && near(one, 0.2) && near(other, 0.8);
      });
    });
    const counts = await load.end();
    assert.deepEqual([...counts.keys()], ['status 200']);
    for (const [id, ports] of askers) assert.equal(ports.size, 1, `${id} was asked on one connection`);
    // what it answers may be a second old
    await waitFor('the last configuration at /state', async () =>
      (await state()).configuration.yaml.includes('Weight: 25'),
    );
  });
});

test('every statistic of Envoy that deploy/troubleshooting.md names exists', async () => {
  const page = await voyage.envoy.get('/stats');
  const known = new Set(page.split('\n').map((line) => line.split(':', 1)[0]));
  const names = named(/`((?:cluster\.NAME|http\.PREFIX|control_plane)\.\w+(?:\.\w+)*)`/g);
  assert.ok(names.length > 10);
  const unknown = names.filter(
    (name) => !known.has(name.replace('cluster.NAME', 'cluster.llama').replace('PREFIX', 'inference')),
  );
  assert.deepEqual(unknown, []);
});

/** What an operator might do, one after the other; each is put in force before the next. */
async function edits(from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const kinds: readonly (Edit | 'typo')[] = [
      { weight: 50 + (i % 40) },
      { servers: 3 },
      {},
      { interval: 2 },
      'typo',
      { extra: `extra-${i}` },
      { weight: 100 },
      {},
    ];
    const kind = kinds[i % kinds.length] ?? {};
    const text = kind === 'typo' ? yaml({}).replace('Servers:', 'Servrs:') : yaml(kind);
    await writeFile(join(folder, 'next.yaml'), text);
    await rename(join(folder, 'next.yaml'), join(folder, 'v1', 'plimsoll.yaml'));
    await reload(kind === 'typo' ? 'refused' : 'taken');
  }
}

async function reload(outcome: 'taken' | 'refused'): Promise<void> {
  const known = told.length;
  reloader.reload();
  await waitFor(outcome, () => told.slice(known).includes(`signal ${outcome}`));
}

function yaml({ servers = 2, weight = 100, interval = 1, extra }: Edit): string {
  const list = (of: readonly GaugeBackend[], first = 100): string =>
    of
      .map(({ address, port }, i) => `{Address: ${address}, Port: ${port}, Weight: ${i === 0 ? first : 100}}`)
      .join(', ');
  const extension = (name: string, seconds: number): string => `  - Name: ${name}
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector: {Timeout: 1, Interval: ${seconds}, HttpMetricCollect: {Path: /metrics}}
          Scheduler: {Scorers: [{Name: TotalQueuedRequests, Weight: 1}, {Name: RunningRequests, Weight: 1}]}
`;
  return `Xds: {Listen: 127.0.0.1:0, DrainSeconds: 0.1}
Admin: {Listen: 127.0.0.1:0}
ServerGroups:
  - Name: llama
    ServiceExtension: edited
    DrainSeconds: 0.2
    Servers: [${list(llama.slice(0, servers), weight)}]
  - Name: mistral
    ServiceExtension: left-alone
    Servers: [${list(mistral)}]
${extra === undefined ? '' : `  - {Name: ${extra}, ServiceExtension: edited, Servers: [${list(llama)}]}\n`}ServiceExtensions:
${extension('edited', interval)}${extension('left-alone', 1).replace('Timeout: 1', 'Timeout: 3')}Listeners:
  - {Name: inference, Address: 127.0.0.1, Port: 10000, ServerGroup: llama}
  - {Name: second, Address: 127.0.0.2, Port: 10000, ServerGroup: mistral}
`;
}

/** Puts another version of the ConfigMap in place: one link is swapped. */
async function mount(version: string, content: string): Promise<void> {
  await mkdir(join(folder, version));
  await writeFile(join(folder, version, 'plimsoll.yaml'), content);
  await symlink(version, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

/** When what the reloads began has ended: what there is. */
async function rest() {
  await voyage.until('two servers', (held) => held.size === 2);
  await waitFor('the timers of reloads to end', () => (handles()['Timeout'] ?? 0) < 100);
  const stats = await voyage.envoy.stats(
    /^(listener_manager\.listener_(added|modified|removed)|cluster_manager\.(cluster_(added|modified|removed)|active_clusters))$/,
  );
  const { groups, sidecars } = await waitFor('two groups', async () => {
    const current = await state();
    return current.groups.length === 2 && current;
  });
  return {
    handles: handles(),
    counts: {
      envoy: Object.fromEntries(stats),
      groups: groups.map(({ name }) => name),
      streams: sidecars.streams,
      series: (await metricsPage()).split('\n').filter((line) => line.includes('server_group="')).length,
    },
  };
}

/** By kind. */
function handles(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** What must not change of the group that is left alone, but for its evaluations and what they learn. */
async function untouched() {
  const { groups } = await state();
  const group = groups.find(({ name }) => name === 'mistral');
  const page = await voyage.envoy.get('/stats?filter=cluster.mistral.version_text');
  const received = await voyage.envoy.stats(/^cluster\.mistral\.update_success$/);
  const [evaluations = 0] = await voyage.metrics(
    'plimsoll_server_group_evaluations_total{server_group="mistral"}',
  );
  return {
    evaluations,
    version: page.trim(),
    received: received.get('cluster.mistral.update_success'),
    publishedAt: group?.published?.at,
    staySeconds: group?.staySeconds ?? INITIAL_STAY.seconds,
  };
}

/** How far the estimate of the stay has come from where it begins, s. */
function learned({ staySeconds }: { readonly staySeconds: number }): number {
  return Math.abs(staySeconds - INITIAL_STAY.seconds);
}

async function state(): Promise<State> {
  const { body } = await request(`${voyage.admin}/state`);
  return (await body.json()) as State;
}

async function metricsPage(): Promise<string> {
  const { body } = await request(`${voyage.admin}/metrics`);
  return body.text();
}

function near(share: number | undefined, expected: number): boolean {
  return Math.abs((share ?? 0) - expected) < 0.02;
}
