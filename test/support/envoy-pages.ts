import type { EnvoyPages } from '../../src/doctor/read-view.ts';
import { edsBootstrap } from '../../src/xds/bootstrap.ts';
import { listener, serverGroup } from './configuration.ts';

/** A message as Envoy prints it, for a test to change. */
export type Tree = Record<string, unknown>;

/** The parts of a dump that tests change: what is sent to cluster `llama` by listener `inference`, all of it right. */
export interface DumpParts {
  readonly cluster: Tree;
  /** By which Plimsoll is reached. */
  readonly controlPlane: Tree;
  /** The HTTP connection manager. */
  readonly manager: Tree;
  readonly host: Tree;
  readonly route: Tree;
  readonly hosts: Tree[];
  readonly stats: Record<string, number | string>;
  readonly server: Tree;
  /** Sections of the dump. */
  readonly sections: Tree[];
}

/** Admin pages of an Envoy that runs a bootstrap of ours, after `change`. */
export function envoyPages(change: (parts: DumpParts) => void = () => undefined): EnvoyPages {
  const routed = { listener: listener('llama'), group: serverGroup('llama') };
  const settings = {
    xds: [{ host: '127.0.0.1', port: 18_000 }],
    tls: undefined,
    nodeId: 'sidecar',
    nodeCluster: 'inference',
    adminPort: 0,
  };
  // a copy that may be changed
  const bootstrap = JSON.parse(JSON.stringify(edsBootstrap(settings, [routed]))) as {
    static_resources: { listeners: [Tree]; clusters: [Tree, Tree] };
  };
  const { listeners, clusters } = bootstrap.static_resources;
  const manager = step(listeners[0], 'filter_chains', 0, 'filters', 0, 'typed_config');
  const host = step(manager, 'route_config', 'virtual_hosts', 0);
  const hosts: Tree[] = [{ health_status: { eds_health_status: 'HEALTHY' }, weight: 100_000 }];
  const stats = {
    'cluster.llama.version_text': 'v1',
    'cluster.llama.update_success': 1,
    'cluster.llama.update_rejected': 0,
    'cluster.llama.control_plane.connected_state': 1,
  };
  const type = (name: string) => ({ '@type': `type.googleapis.com/envoy.admin.v3.${name}ConfigDump` });
  const sections: Tree[] = [
    { ...type('Bootstrap'), bootstrap },
    { ...type('Clusters'), static_clusters: clusters.map((cluster) => ({ cluster })) },
    { ...type('Listeners'), static_listeners: [{ listener: listeners[0] }] },
  ];
  const server = {
    version: '9e558093/1.40.0/Clean/RELEASE/BoringSSL',
    state: 'LIVE',
    node: { id: 'sidecar' },
  };
  change({
    cluster: clusters[0],
    controlPlane: clusters[1],
    manager,
    host,
    route: step(host, 'routes', 0),
    hosts,
    stats,
    server,
    sections,
  });
  return {
    dump: { configs: sections },
    clusters: { cluster_statuses: [{ name: 'llama', host_statuses: hosts }] },
    stats: { stats: Object.entries(stats).map(([name, value]) => ({ name, value })) },
    server,
  };
}

function step(from: unknown, ...path: readonly (string | number)[]): Tree {
  return path.reduce((found, name) => (found as Record<string | number, unknown>)[name], from) as Tree;
}
