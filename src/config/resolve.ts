import type {
  AdminSettings,
  Backend,
  Configuration,
  EnvoyLbPolicy,
  LoadAwareSettings,
  SaturationSettings,
  ServerGroup,
  TlsFiles,
} from '../core/model.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import {
  type ComponentFields,
  type ConfigurationFile,
  defaultQueueMarks,
  type ServerGroupFields,
  type ServiceExtensionFields,
} from './schema.ts';

/** The configuration that a valid file stands for: references resolved, defaults that depend on other fields filled in. */
export function resolveConfiguration(file: ConfigurationFile): Configuration {
  const extensions = new Map(file.ServiceExtensions.map((extension) => [extension.Name, extension]));
  return {
    xds: resolveXds(file.Xds),
    admin: resolveAdmin(file.Admin),
    log: { level: file.Log.Level, format: file.Log.Format },
    serverGroups: file.ServerGroups.map((group) => resolveGroup(group, extensions)),
    listeners: file.Listeners.map((listener) => ({
      name: listener.Name,
      address: listener.Address,
      port: listener.Port,
      serverGroup: listener.ServerGroup,
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
    servers: group.Servers.map(resolveServer),
    loadAware:
      group.ServiceExtension === undefined
        ? undefined
        : resolveExtension(extensions.get(group.ServiceExtension)),
  };
}

function resolveServer(server: ServerGroupFields['Servers'][number]): Backend {
  return {
    id: formatHostPort(server.Address, server.Port),
    address: server.Address,
    port: server.Port,
    weight: server.Weight,
  };
}

function resolveExtension(extension: ServiceExtensionFields | undefined): LoadAwareSettings {
  const config = extension?.Components[0]?.Config;
  if (config === undefined)
    throw new PlimsollError('internal', 'a checked service extension has no component');
  const { MetricCollector: collector, Scheduler: scheduler } = config;
  return {
    collect: {
      timeoutSeconds: collector.Timeout,
      intervalSeconds: intervalSeconds(collector),
      host: collector.HttpMetricCollect.Host,
      path: collector.HttpMetricCollect.Path,
      method: collector.HttpMetricCollect.Method,
    },
    balance: {
      scorers: scheduler.Scorers.map((scorer) => ({ name: scorer.Name, weight: scorer.Weight })),
      policy: scheduler.Policy,
      saturation: resolveSaturation(config),
      onCollectFailure: scheduler.OnCollectFailure,
    },
  };
}

/** A checked file has one of the two. */
function intervalSeconds(collector: ComponentFields['Config']['MetricCollector']): number {
  const { Interval: seconds, IntervalMilliseconds: milliseconds } = collector;
  if (milliseconds !== undefined) return milliseconds / 1000;
  if (seconds !== undefined) return seconds;
  throw new PlimsollError('internal', 'a checked metric collector has no interval');
}
