import { at, isSet, listAt, textAt, typeAt } from './json.ts';
import { controlPlaneOf, GOOGLE_GRPC, readCluster, streamOf } from './read-cluster.ts';
import { readControlPlane, readGoogleGrpc } from './read-control-plane.ts';
import { readManagers } from './read-routes.ts';
import { readStats } from './read-stats.ts';
import type { ClusterView, ControlPlaneView, EnvoyView, ManagerView, StreamView } from './view.ts';

/** What Envoy's admin pages answer, parsed as JSON; undefined: there is no answer. */
export interface EnvoyPages {
  /** `/config_dump` */
  readonly dump: unknown;
  /** `/clusters?format=json` */
  readonly clusters: unknown;
  /** `/stats?format=json` */
  readonly stats: unknown;
  /** `/server_info` */
  readonly server: unknown;
}

/** Whatever the pages hold, it comes to a view: what is not there is not known. */
export function readView({ dump, clusters, stats, server }: EnvoyPages): EnvoyView {
  const sections = new Map(listAt(dump, 'configs').map((section) => [typeAt(section) ?? '', section]));
  const configured = clustersIn(sections.get('ClustersConfigDump'));
  const bootstrap = at(sections.get('BootstrapConfigDump'), 'bootstrap');
  const ads = at(bootstrap, 'dynamic_resources', 'ads_config');
  const statuses = new Map(listAt(clusters, 'cluster_statuses').map((one) => [textAt(one, 'name'), one]));
  const isListed = isSet(clusters, 'cluster_statuses');
  const read = configured.flatMap(({ cluster, warming }) => {
    const status = statuses.get(textAt(cluster, 'name')) ?? (isListed && !warming ? {} : undefined);
    const view = readCluster(cluster, { ads, status, warming });
    return view === undefined ? [] : [{ cluster, view }];
  });
  const listeners = sections.get('ListenersConfigDump');
  return {
    version: /^[^/]*\/(\d+\.\d+\.\d+[^/]*)\//.exec(textAt(server, 'version') ?? '')?.[1],
    state: textAt(server, 'state'),
    node: textAt(server, 'node', 'id'),
    zone: textAt(server, 'node', 'locality', 'zone') || undefined,
    hasLocalCluster: (textAt(bootstrap, 'cluster_manager', 'local_cluster_name') ?? '') !== '',
    clusters: read.map(({ view }) => view),
    controlPlanes: controlPlanesOf(configured, read, ads),
    managers: managersOf(listeners, sections.get('RoutesConfigDump')),
    refused: refusedIn(listeners),
    stats: readStats(stats),
  };
}

/** A warming cluster that replaces an active one is named once, as the active one is what is used. */
function clustersIn(section: unknown): readonly { readonly cluster: unknown; readonly warming: boolean }[] {
  const of = (list: string, warming: boolean) =>
    listAt(section, list).map((entry) => ({ cluster: at(entry, 'cluster'), warming }));
  const used = [...of('static_clusters', false), ...of('dynamic_active_clusters', false)];
  const names = new Set(used.map(({ cluster }) => textAt(cluster, 'name')));
  const warming = of('dynamic_warming_clusters', true);
  return [...used, ...warming.filter(({ cluster }) => !names.has(textAt(cluster, 'name')))];
}

interface Stream {
  /** Its `ApiConfigSource`. */
  readonly api: unknown;
  readonly view: StreamView;
}

function controlPlanesOf(
  configured: readonly { readonly cluster: unknown }[],
  read: readonly { readonly cluster: unknown; readonly view: ClusterView }[],
  ads: unknown,
): readonly ControlPlaneView[] {
  const own = read
    .filter(({ view }) => view.source.stream === 'own')
    .map(({ cluster, view }) => {
      const api = at(cluster, 'eds_cluster_config', 'eds_config', 'api_config_source');
      return { api, view: streamOf(api, view) };
    });
  const streams = ads === undefined ? own : [{ api: ads, view: streamOf(ads, undefined) }, ...own];
  const isGoogle = ({ api }: Stream) => isSet(api, ...GOOGLE_GRPC);
  return [
    ...byCluster(
      configured,
      streams.filter((stream) => !isGoogle(stream)),
    ),
    ...byGoogleGrpc(streams.filter(isGoogle)),
  ];
}

function byCluster(
  configured: readonly { readonly cluster: unknown }[],
  streams: readonly Stream[],
): readonly ControlPlaneView[] {
  return configured.flatMap(({ cluster }) => {
    const name = textAt(cluster, 'name');
    const there = streams.filter(({ api }) => name !== undefined && controlPlaneOf(api) === name);
    return there.length === 0
      ? []
      : [
          readControlPlane(
            cluster,
            there.map(({ view }) => view),
          ),
        ];
  });
}

/** Those with the same `stat_prefix` are taken for one. */
function byGoogleGrpc(streams: readonly Stream[]): readonly ControlPlaneView[] {
  const names = new Set(streams.map(({ api }) => controlPlaneOf(api)));
  return [...names].flatMap((name) => {
    const there = streams.filter(({ api }) => name !== undefined && controlPlaneOf(api) === name);
    return there.length === 0
      ? []
      : [
          readGoogleGrpc(
            there[0]?.api,
            there.map(({ view }) => view),
          ),
        ];
  });
}

function managersOf(listeners: unknown, routes: unknown): readonly ManagerView[] {
  const configs = ['static_route_configs', 'dynamic_route_configs'].flatMap((list) =>
    listAt(routes, list).map((entry) => at(entry, 'route_config')),
  );
  const byName = new Map(configs.map((config) => [textAt(config, 'name'), config]));
  return [
    ...listAt(listeners, 'static_listeners').map((entry) => at(entry, 'listener')),
    ...listAt(listeners, 'dynamic_listeners').map((entry) => at(entry, 'active_state', 'listener')),
  ].flatMap((listener) => readManagers(listener, (name) => byName.get(name)));
}

/** One that was never taken may be there twice, once without its name. */
function refusedIn(listeners: unknown): readonly string[] {
  const byDetails = new Map<string, string>();
  for (const entry of listAt(listeners, 'dynamic_listeners')) {
    const details = textAt(entry, 'error_state', 'details')?.trim();
    if (details === undefined) continue;
    const name = textAt(entry, 'name') ?? textAt(entry, 'error_state', 'failed_configuration', 'name') ?? '';
    if (name !== '') byDetails.set(details, `listener ${name}: ${details}`);
    else if (!byDetails.has(details)) byDetails.set(details, details);
  }
  return [...byDetails.values()];
}
