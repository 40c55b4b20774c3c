import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { toYaml } from '../../src/config/to-yaml.ts';
import type { Configuration } from '../../src/core/model/configuration.ts';
import { findEnvoy } from '../../src/demo/envoy-binary.ts';
import { clusterJson, encodeCluster } from '../../src/xds/resources/cluster.ts';
import { adsSource, ownStreamSource } from '../../src/xds/resources/config-source.ts';
import { encodeListener, listenerJson } from '../../src/xds/resources/listener.ts';
import { encodeRoute } from '../../src/xds/resources/route.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { configuration, listener, serverGroup } from '../support/configuration.ts';
import { decodeFully } from '../support/full-protos.ts';
import { TestCa } from '../support/pki.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-bootstrap-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Runs `envoy --mode validate`; fails with what Envoy says against it. */
async function assertValid(text: string, extension: 'json' | 'yaml'): Promise<void> {
  const file = join(folder, `bootstrap.${extension}`);
  await writeFile(file, text);
  const said = await new Promise<string>((resolve) => {
    execFile(findEnvoy(), ['--mode', 'validate', '-c', file, '-l', 'error'], (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
  assert.equal(said, `configuration '${file}' OK\n`);
}

function made(of: Configuration, mode: 'ads' | 'eds', json: boolean): string {
  const result = makeBootstrap(of, { mode, json, xds: ['[::1]:18000'], adminPort: 0 });
  assert.equal(result.kind, 'ok', JSON.stringify(result));
  return result.value;
}

for (const mode of ['ads', 'eds'] as const) {
  for (const json of [false, true]) {
    test(`Envoy takes a bootstrap for mode ${mode} as it is, ${json ? 'JSON' : 'YAML'}`, async () => {
      await assertValid(made(configuration(), mode, json), json ? 'json' : 'yaml');
    });
  }
}

for (const mode of ['ads', 'eds'] as const) {
  test(`Envoy takes deploy/envoy/${mode}.yaml as it is`, async () => {
    const file = new URL(`../../deploy/envoy/${mode}.yaml`, import.meta.url);
    await assertValid(await readFile(file, 'utf8'), 'yaml');
  });
}

for (const mode of ['ads', 'eds'] as const) {
  test(`Envoy takes deploy/envoy/${mode}-tls.yaml with files where it has them`, async () => {
    const ca = await TestCa.create();
    const own = await ca.issue({ dns: ['sidecar.example'] });
    const files = { 'ca.crt': ca.cert, 'sidecar.crt': own.cert, 'sidecar.key': own.key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const text = await readFile(new URL(`../../deploy/envoy/${mode}-tls.yaml`, import.meta.url), 'utf8');
    await assertValid(text.replaceAll('/etc/envoy/', `${folder}/`), 'yaml');
  });
}

test('Envoy takes the parts of deploy/envoy for affinity and health checks in a bootstrap for mode eds', async () => {
  const part = async (name: string): Promise<unknown> =>
    parse(await readFile(new URL(`../../deploy/envoy/${name}.yaml`, import.meta.url), 'utf8'));
  const filters = await part('affinity');
  const checks = (await part('health-check')) as object;
  const bootstrap: unknown = JSON.parse(made(configuration(), 'eds', true), (key, value: unknown) => {
    if (key === 'http_filters') return filters;
    const isOurs = typeof value === 'object' && value !== null && 'eds_cluster_config' in value;
    return isOurs ? { ...value, ...checks } : value;
  });
  await assertValid(JSON.stringify(bootstrap), 'json');
});

test('what the parts of deploy/envoy say is what Plimsoll generates', async () => {
  const part = async (name: string): Promise<unknown> =>
    parse(await readFile(new URL(`../../deploy/envoy/${name}.yaml`, import.meta.url), 'utf8'));
  const healthCheck = {
    path: '/health',
    intervalSeconds: 5,
    timeoutSeconds: 2,
    unhealthyThreshold: 3,
    healthyThreshold: 1,
  };
  const { health_checks, ignore_health_on_host_removal } = clusterJson(
    serverGroup('llama', { healthCheck }),
    adsSource,
  );
  assert.deepEqual(await part('health-check'), { health_checks, ignore_health_on_host_removal });
  const withAffinity = listener('llama', { affinityHeader: 'x-plimsoll-backend' });
  const json = JSON.stringify(listenerJson(withAffinity, serverGroup('llama'), { rds: {} }));
  assert.ok(json.includes(JSON.stringify(await part('affinity'))), json);
});

test('Envoy takes names for names, whatever they look like', async () => {
  const looks =
    'on y Null ~ 010 0x1F 1e3 1_000 .inf NaN 12:30:45 2001-01-01 +1 # - * & ! % @ ` \' " {a} [a] a: a#b = << | >';
  const names = [...looks.split(' '), 'outbound|8000||llama.ns.svc.cluster.local'];
  const of = configuration({
    serverGroups: names.map((name) => serverGroup(name)),
    listeners: names.map((name, index) => listener(name, { name, port: 10_000 + index })),
  });
  await assertValid(made(of, 'eds', false), 'yaml');
});

for (const [streams, source] of [
  ['one aggregated stream', adsSource],
  ['streams of their own', ownStreamSource],
] as const)
  test(`Envoy takes what is published over CDS, LDS and RDS on ${streams}`, async () => {
    const bootstrap = JSON.parse(made(configuration(), 'ads', true)) as {
      static_resources: { clusters: unknown[]; listeners?: unknown[] };
    };
    const groups = [serverGroup('llama'), serverGroup('mistral', { envoyLbPolicy: 'RoundRobin' })];
    const listeners: unknown[] = [];
    for (const [index, group] of groups.entries()) {
      const asked = listener(group.name, { name: `rds-${group.name}`, port: 10_000 + index });
      const inline = listener(group.name, { name: `inline-${group.name}`, port: 11_000 + index });
      bootstrap.static_resources.clusters.push(decodeFully(TYPE_URLS.cluster, encodeCluster(group, source)));
      listeners.push(
        decodeFully(TYPE_URLS.listener, encodeListener(asked, group, source)),
        withRoutes(
          decodeFully(TYPE_URLS.listener, encodeListener(inline, group, source)),
          decodeFully(TYPE_URLS.route, encodeRoute(inline, group)),
        ),
      );
    }
    bootstrap.static_resources.listeners = listeners;
    await assertValid(toYaml(bootstrap), 'yaml');
  });

/** The listener with its routes inside instead of a reference to RDS. */
function withRoutes(of: unknown, routes: unknown): unknown {
  return JSON.parse(JSON.stringify(of), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('rds' in value)) return value;
    const { rds: _, ...rest } = value;
    return { ...rest, routeConfig: routes };
  });
}
