import { engineNamed } from '../collect/engines/catalogue.ts';
import type { Backend } from '../core/model/backend.ts';
import type { SaturationSettings } from '../core/model/balance-settings.ts';
import type {
  CollectHeader,
  CollectSettings,
  MetricOverride,
  MetricOverrides,
} from '../core/model/collect-settings.ts';
import type { AdminSettings, Configuration, TlsFiles } from '../core/model/configuration.ts';
import type {
  EnvoyLbPolicy,
  HealthCheckSettings,
  LoadAwareSettings,
  ServerGroup,
} from '../core/model/server-group.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { resolveDiscovery } from './resolve-discovery.ts';
import type {
  ComponentFields,
  ConfigurationFile,
  HttpMetricCollectFields,
  MetricFields,
  ServerGroupFields,
  ServiceExtensionFields,
} from './schema.ts';
import { defaultQueueMarks } from './sections/scheduler.ts';

/** The configuration that a valid file stands for: references resolved, defaults that depend on other fields filled in. */
export function resolveConfiguration(file: ConfigurationFile): Configuration {
  const extensions = new Map(file.ServiceExtensions.map((extension) => [extension.Name, extension]));
  const sticky = new Set(
    file.Listeners.filter((listener) => listener.Affinity).map((listener) => listener.ServerGroup),
  );
  return {
    xds: resolveXds(file.Xds),
    admin: resolveAdmin(file.Admin),
    log: { level: file.Log.Level, format: file.Log.Format },
    serverGroups: file.ServerGroups.map((group) => ({
      ...resolveGroup(group, extensions),
      ...(sticky.has(group.Name) && { keepsSessions: true }),
    })),
    listeners: file.Listeners.map((listener) => ({
      name: listener.Name,
      address: listener.Address,
      port: listener.Port,
      serverGroup: listener.ServerGroup,
      ...(listener.Affinity && { affinityHeader: listener.Affinity.Header.toLowerCase() }),
    })),
  };
}

function resolveXds({
  Limits: limits,
  Keepalive: keepalive,
  ...xds
}: ConfigurationFile['Xds']): Configuration['xds'] {
  return {
    listen: xds.Listen,
    drainSeconds: xds.DrainSeconds,
    tls: xds.Tls === undefined ? undefined : resolveTls(xds.Tls),
    authorization: xds.Authorization?.map((rule) => ({
      identity: rule.Identity,
      serverGroups: rule.ServerGroups.includes('*') ? 'all' : rule.ServerGroups,
    })),
    limits: {
      streams: limits.Streams,
      streamsPerIdentity: limits.StreamsPerIdentity,
      streamsPerConnection: limits.StreamsPerConnection,
      names: limits.Names,
      nameLength: limits.NameLength,
      messageBytes: limits.MessageBytes,
      requestsPerSecond: limits.RequestsPerSecond,
      newStreamsPerSecond: limits.NewStreamsPerSecond,
      readSeconds: limits.ReadSeconds,
      ackSeconds: limits.AckSeconds,
    },
    keepalive: { intervalSeconds: keepalive.IntervalSeconds, timeoutSeconds: keepalive.TimeoutSeconds },
    maxConnectionAgeSeconds: xds.MaxConnectionAgeSeconds,
  };
}

function resolveAdmin(admin: ConfigurationFile['Admin']): AdminSettings {
  const { Listen: listen, Tls: tls, BearerTokenFile: bearerTokenFile, Hosts: hosts = [] } = admin;
  return {
    listen,
    tls: tls && { certFile: tls.CertFile, keyFile: tls.KeyFile },
    bearerTokenFile,
    hosts: hosts.map((host) => host.toLowerCase()),
  };
}

function resolveTls(tls: NonNullable<ConfigurationFile['Xds']['Tls']>): TlsFiles {
  return { certFile: tls.CertFile, keyFile: tls.KeyFile, clientCaFile: tls.ClientCaFile };
}

/** Load-aware weights are shaped for sidecars that weigh in their own requests; without them plain round robin holds. */
export function resolveLbPolicy(group: ServerGroupFields): EnvoyLbPolicy {
  return group.EnvoyLbPolicy ?? (group.ServiceExtension === undefined ? 'RoundRobin' : 'LeastRequest');
}

/** undefined: saturation is turned off. */
export function resolveSaturation(config: ComponentFields['Config']): SaturationSettings | undefined {
  const saturation = config.Scheduler.Saturation;
  if (saturation === false) return undefined;
  const { TotalQueuedRequests: queued, KVCacheUtilization: kv, RunningRequests: running } = saturation;
  const defaults = defaultQueueMarks(intervalSeconds(config.MetricCollector));
  return {
    totalQueuedRequests: { mark: queued.Mark ?? defaults.Mark, clear: queued.Clear ?? defaults.Clear },
    kvCacheUtilization: { mark: kv.Mark },
    runningRequests: running === undefined ? undefined : { mark: running.Mark, clear: running.Clear },
    admission: saturation.Admission,
  };
}

function resolveGroup(
  group: ServerGroupFields,
  extensions: ReadonlyMap<string, ServiceExtensionFields>,
): ServerGroup {
  return {
    name: group.Name,
    mode: group.Mode,
    envoyLbPolicy: resolveLbPolicy(group),
    retryAfterSeconds: group.RetryAfterSeconds,
    outlierDetection: group.OutlierDetection,
    healthCheck: group.HealthCheck && resolveHealthCheck(group.HealthCheck),
    mesh: group.Mesh,
    locality: group.Locality,
    allowLinkLocal: group.AllowLinkLocal,
    drainSeconds: group.DrainSeconds,
    discovery: group.Discovery === undefined ? undefined : resolveDiscovery(group.Discovery),
    servers: (group.Servers ?? []).map(resolveServer),
    loadAware:
      group.ServiceExtension === undefined
        ? undefined
        : resolveExtension(extensions.get(group.ServiceExtension)),
  };
}

function resolveHealthCheck(check: NonNullable<ServerGroupFields['HealthCheck']>): HealthCheckSettings {
  return {
    path: check.Path,
    intervalSeconds: check.IntervalSeconds,
    timeoutSeconds: check.TimeoutSeconds,
    unhealthyThreshold: check.UnhealthyThreshold,
    healthyThreshold: check.HealthyThreshold,
  };
}

function resolveServer(server: NonNullable<ServerGroupFields['Servers']>[number]): Backend {
  return {
    id: formatHostPort(server.Address, server.Port),
    address: server.Address,
    port: server.Port,
    weight: server.Weight,
    ...(server.Zone === undefined ? {} : { zone: server.Zone }),
  };
}

function resolveExtension(extension: ServiceExtensionFields | undefined): LoadAwareSettings {
  const config = extension?.Components[0]?.Config;
  if (config === undefined)
    throw new PlimsollError('internal', 'a checked service extension has no component');
  const { MetricCollector: collector, Scheduler: scheduler } = config;
  return {
    collect: resolveCollect(collector),
    balance: {
      scorers: scheduler.Scorers.map((scorer) => ({ name: scorer.Name, weight: scorer.Weight })),
      policy: scheduler.Policy,
      saturation: resolveSaturation(config),
      onCollectFailure: scheduler.OnCollectFailure,
    },
  };
}

function resolveCollect(collector: ComponentFields['Config']['MetricCollector']): CollectSettings {
  const http = collector.HttpMetricCollect;
  return {
    timeoutSeconds: collector.Timeout,
    intervalSeconds: intervalSeconds(collector),
    host: http.Host,
    path: resolvePath(http),
    method: http.Method,
    port: resolvePort(http),
    scheme: resolveScheme(http),
    headers: Object.entries(http.Headers ?? {}).map(resolveHeader),
    bearerTokenFile: http.BearerTokenFile,
    tls: http.Tls && {
      caFile: http.Tls.CaFile,
      serverName: http.Tls.ServerName,
      certFile: http.Tls.CertFile,
      keyFile: http.Tls.KeyFile,
      insecureSkipVerify: http.Tls.InsecureSkipVerify,
    },
    engine: http.Engine,
    leanScrape: resolveLeanScrape(http),
    metrics: resolveMetrics(http.Metrics),
  };
}

/** A checked file has one, or names an engine that does. */
export function resolvePath({ Path: path, Engine: engine }: HttpMetricCollectFields): string {
  const resolved = path ?? engineNamed(engine)?.path;
  if (resolved === undefined) throw new PlimsollError('internal', 'a checked metric collector has no path');
  return resolved;
}

/** undefined: the server's. */
export function resolvePort({ Port: port, Engine: engine }: HttpMetricCollectFields): number | undefined {
  return port ?? engineNamed(engine)?.port;
}

export function resolveScheme({ Scheme: scheme, Engine: engine }: HttpMetricCollectFields): 'http' | 'https' {
  return scheme ?? engineNamed(engine)?.scheme ?? 'http';
}

function resolveMetrics(metrics: HttpMetricCollectFields['Metrics']): MetricOverrides {
  return {
    TotalQueuedRequests: resolveMetric(metrics?.TotalQueuedRequests),
    KVCacheUtilization: resolveMetric(metrics?.KVCacheUtilization),
    RunningRequests: resolveMetric(metrics?.RunningRequests),
    finished: resolveMetric(metrics?.Finished),
    labels: metrics?.Labels ?? {},
  };
}

function resolveMetric(metric: MetricFields | undefined): MetricOverride | undefined {
  if (metric === undefined) return undefined;
  return typeof metric === 'string'
    ? { name: metric, labels: {} }
    : { name: metric.Name, labels: metric.Labels ?? {} };
}

function resolveHeader([name, value]: [string, string | { readonly File: string }]): CollectHeader {
  return typeof value === 'string'
    ? { name, value, file: undefined }
    : { name, value: undefined, file: value.File };
}

/** Only a plain GET can be made lean: a query of its own and a body mean something else to the exporter. */
export function resolveLeanScrape(http: HttpMetricCollectFields): boolean {
  return http.LeanScrape ?? (http.Method === 'GET' && !resolvePath(http).includes('?'));
}

/** A checked file has one of the two. */
function intervalSeconds(collector: ComponentFields['Config']['MetricCollector']): number {
  const { Interval: seconds, IntervalMilliseconds: milliseconds } = collector;
  if (milliseconds !== undefined) return milliseconds / 1000;
  if (seconds !== undefined) return seconds;
  throw new PlimsollError('internal', 'a checked metric collector has no interval');
}
