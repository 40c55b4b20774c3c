import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { at, type Path } from '../../../src/doctor/json.ts';
import { googleGrpcMend } from '../../../src/doctor/mends.ts';
import { edsBootstrap } from '../../../src/xds/bootstrap.ts';
import { clusterJson } from '../../../src/xds/resources/cluster.ts';
import { ownStreamSource } from '../../../src/xds/resources/config-source.ts';
import { listenerJson } from '../../../src/xds/resources/listener.ts';
import { routeJson } from '../../../src/xds/resources/route.ts';
import { listener, serverGroup } from '../../support/configuration.ts';

const group = serverGroup('llama');
const own = {
  cluster: clusterJson(group, ownStreamSource),
  mappers: at(
    listenerJson(listener('llama'), group, { route_config: {} }),
    'filter_chains',
    0,
    'filters',
    0,
    'typed_config',
    'local_reply_config',
    'mappers',
  ),
  retries: at(routeJson('inference', group), 'virtual_hosts', 0, 'routes', 0, 'route', 'retry_policy'),
};

function file(path: string): unknown {
  return parse(readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8'));
}

function documents(path: string): readonly unknown[] {
  const text = readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');
  return text.split(/^---$/m).map((document) => parse(document) as unknown);
}

/** What is at the path in a recipe is what Plimsoll writes there itself. */
function assertAsOwn(recipe: unknown, ...paths: readonly Path[]): void {
  for (const path of paths) {
    const wanted = at(own.cluster, ...path);
    assert.notEqual(wanted, undefined, path.join('.'));
    assert.deepEqual(at(recipe, ...path), wanted, path.join('.'));
  }
}

const SOURCE = ['eds_cluster_config', 'eds_config'];

interface Relabelling {
  readonly source_labels: readonly string[];
  readonly regex: string;
  readonly target_label: string;
  readonly replacement: string;
}

/** What the README has Prometheus do with the series of a proxy: by it alerts know which group a cluster is. */
function assertRelabelled(readme: string, cluster: { readonly label: string; readonly name: unknown }): void {
  const text = readFileSync(new URL(`../../../deploy/${readme}`, import.meta.url), 'utf8');
  const [, block = assert.fail('no rule')] = /```yaml\n(metric_relabel_configs:\n[^`]*)```/.exec(text) ?? [];
  const { metric_relabel_configs: rules } = parse(block) as {
    readonly metric_relabel_configs: readonly Relabelling[];
  };
  const [rule = assert.fail('no rule')] = rules;
  assert.deepEqual(rule.source_labels, [cluster.label]);
  assert.ok(typeof cluster.name === 'string');
  assert.match(cluster.name, new RegExp(`^(?:${rule.regex})$`));
  assert.deepEqual([rule.target_label, rule.replacement], ['server_group', group.name]);
}

describe('deploy/istio is as what Plimsoll makes itself', () => {
  const filter = file('istio/envoy-filter.yaml');
  const cluster = at(filter, 'spec', 'configPatches', 0, 'patch', 'value');

  test('the cluster', () => {
    assertAsOwn(
      cluster,
      ['lb_policy'],
      ['least_request_lb_config'],
      ['outlier_detection'],
      ['common_lb_config', 'healthy_panic_threshold'],
      ['common_lb_config', 'update_merge_window'],
      [...SOURCE, 'initial_fetch_timeout'],
      [...SOURCE, 'api_config_source', 'api_type'],
    );
  });

  test('the 503, of sidecars and of gateways', () => {
    const mappers = ['patch', 'value', 'typed_config', 'local_reply_config', 'mappers'];
    const gateway = documents('istio/gateway.yaml')[2];
    assert.deepEqual(at(filter, 'spec', 'configPatches', 1, ...mappers), own.mappers);
    assert.deepEqual(at(gateway, 'spec', 'configPatches', 0, ...mappers), own.mappers);
  });

  test('pings to Plimsoll are as doctor wants them, and as replicas.md says', () => {
    const args = ['google_grpc', 'channel_args', 'args'];
    const set = at(cluster, ...SOURCE, 'api_config_source', 'grpc_services', 0, ...args);
    const wanted = at(parse(googleGrpcMend(args.slice(1)).yaml), ...args.slice(1)) as object;
    for (const [name, value] of Object.entries(wanted)) assert.deepEqual(at(set, name), value, name);
    const seconds = Number(at(set, 'grpc.keepalive_time_ms', 'int_value')) / 1000;
    const text = readFileSync(new URL('../../../deploy/replicas.md', import.meta.url), 'utf8');
    assert.ok(text.includes(`(\`google_grpc\`) with pings each ${seconds} s`));
  });

  test('the cluster is the group of its name for alerts', () => {
    const name = at(filter, 'spec', 'configPatches', 0, 'match', 'cluster', 'name');
    assertRelabelled('istio/README.md', { label: 'cluster_name', name });
    assert.equal(at(cluster, 'eds_cluster_config', 'service_name'), group.name);
  });

  test('retries', () => {
    for (const service of [file('istio/virtual-service.yaml'), documents('istio/gateway.yaml')[1]]) {
      const retries = at(service, 'spec', 'http', 0, 'retries');
      assert.deepEqual(at(retries, 'retryOn'), at(own.retries, 'retry_on'));
      assert.deepEqual(at(retries, 'attempts'), at(own.retries, 'num_retries'));
    }
  });
});

describe('deploy/envoy-gateway is as what Plimsoll makes itself', () => {
  const policy = file('envoy-gateway/envoy-patch-policy.yaml');
  const patches = at(policy, 'spec', 'jsonPatches') as readonly {
    readonly operation: { readonly path: string; readonly value: unknown };
  }[];
  const patched = (path: string) =>
    patches.find(({ operation }) => operation.path.endsWith(path))?.operation.value;

  test('the cluster', () => {
    assert.deepEqual(patched('/eds_cluster_config'), at(own.cluster, 'eds_cluster_config'));
    assert.deepEqual(patched('/outlier_detection'), at(own.cluster, 'outlier_detection'));
    const balancing = at(
      patched('/load_balancing_policy'),
      'policies',
      0,
      'typed_extension_config',
      'typed_config',
    );
    const bias = 'active_request_bias';
    assert.deepEqual(at(balancing, bias), at(own.cluster, 'least_request_lb_config', bias));
  });

  test('the 503', () => {
    assert.deepEqual(at(patched('/local_reply_config'), 'mappers'), own.mappers);
  });

  test('the cluster is the group of its name for alerts', () => {
    const name = at(policy, 'spec', 'jsonPatches', 0, 'name');
    assertRelabelled('envoy-gateway/README.md', { label: 'envoy_cluster_name', name });
  });

  test('limits and retries', () => {
    const spec = at(file('envoy-gateway/backend-traffic-policy.yaml'), 'spec');
    const limits = at(own.cluster, 'circuit_breakers', 'thresholds', 0);
    assert.deepEqual(at(spec, 'circuitBreaker'), {
      maxConnections: at(limits, 'max_connections'),
      maxPendingRequests: at(limits, 'max_pending_requests'),
      maxParallelRequests: at(limits, 'max_requests'),
      maxParallelRetries: at(limits, 'max_retries'),
    });
    const triggers = at(spec, 'retry', 'retryOn', 'triggers') as readonly string[];
    assert.equal(triggers.join(','), at(own.retries, 'retry_on'));
    assert.equal(at(spec, 'retry', 'numRetries'), at(own.retries, 'num_retries'));
  });

  test('the way to Plimsoll', () => {
    const value = at(file('envoy-gateway/envoy-proxy.yaml'), 'spec', 'bootstrap', 'value');
    const cluster = at(parse(value as string), 'static_resources', 'clusters', 0);
    const settings = {
      xds: [{ host: 'plimsoll-xds.plimsoll.svc.cluster.local', port: 18_000 }],
      tls: undefined,
      nodeId: 'sidecar',
      nodeCluster: 'inference',
      adminPort: 0,
    };
    assert.deepEqual(cluster, at(edsBootstrap(settings, []), 'static_resources', 'clusters', 0));
  });
});
