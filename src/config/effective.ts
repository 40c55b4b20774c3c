import { Document, isScalar, visit } from 'yaml';
import { formatHostPort } from '../runtime/host-port.ts';
import { REDACTED } from './mistake.ts';
import {
  resolveLbPolicy,
  resolveLeanScrape,
  resolvePath,
  resolvePort,
  resolveSaturation,
  resolveScheme,
} from './resolve.ts';
import type {
  ComponentFields,
  ConfigurationFile,
  ConfigurationInput,
  HttpMetricCollectFields,
} from './schema.ts';

type HeaderFields = NonNullable<HttpMetricCollectFields['Headers']>;

/**
 * A valid file as an operator would write it with every default in place. It stands for the same configuration, but for
 * the values of headers, which are not shown.
 */
export function effectiveFile(file: ConfigurationFile): ConfigurationInput {
  return {
    Xds: { ...file.Xds, Listen: formatHostPort(file.Xds.Listen.host, file.Xds.Listen.port) },
    Admin: { ...file.Admin, Listen: formatHostPort(file.Admin.Listen.host, file.Admin.Listen.port) },
    Log: file.Log,
    ServerGroups: file.ServerGroups.map((group) => ({
      Name: group.Name,
      Scheduler: group.Scheduler,
      ...(group.ServiceExtension === undefined ? {} : { ServiceExtension: group.ServiceExtension }),
      EnvoyLbPolicy: resolveLbPolicy(group),
      Mode: group.Mode,
      RetryAfterSeconds: group.RetryAfterSeconds,
      OutlierDetection: group.OutlierDetection,
      ...(group.HealthCheck === undefined ? {} : { HealthCheck: group.HealthCheck }),
      Mesh: group.Mesh,
      Locality: group.Locality,
      AllowLinkLocal: group.AllowLinkLocal,
      DrainSeconds: group.DrainSeconds,
      ...(group.Servers === undefined ? {} : { Servers: group.Servers }),
      ...(group.Discovery === undefined ? {} : { Discovery: group.Discovery }),
    })),
    ServiceExtensions: file.ServiceExtensions.map((extension) => ({
      ...extension,
      Components: extension.Components.map((component) => ({
        ...component,
        Config: {
          ...component.Config,
          MetricCollector: effectiveCollector(component.Config.MetricCollector),
          Scheduler: { ...component.Config.Scheduler, Saturation: effectiveSaturation(component.Config) },
        },
      })),
    })),
    Listeners: file.Listeners,
  };
}

function effectiveCollector(collector: ComponentFields['Config']['MetricCollector']) {
  const http = collector.HttpMetricCollect;
  const { Host: host, Method: method, ...others } = http;
  const port = resolvePort(http);
  return {
    ...collector,
    HttpMetricCollect: {
      ...(host === undefined ? {} : { Host: host }),
      Path: resolvePath(http),
      Method: method,
      ...(port === undefined ? {} : { Port: port }),
      Scheme: resolveScheme(http),
      ...others,
      ...(http.Headers === undefined ? {} : { Headers: withoutSecrets(http.Headers) }),
      LeanScrape: resolveLeanScrape(http),
    },
  };
}

function withoutSecrets(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? REDACTED : value]),
  );
}

function effectiveSaturation(config: ComponentFields['Config']) {
  const settings = resolveSaturation(config);
  if (settings === undefined) return false;
  const {
    totalQueuedRequests: queued,
    kvCacheUtilization: kv,
    runningRequests: running,
    admission,
  } = settings;
  return {
    TotalQueuedRequests: { Mark: queued.mark, Clear: queued.clear },
    KVCacheUtilization: { Mark: kv.mark },
    ...(running === undefined ? {} : { RunningRequests: { Mark: running.mark, Clear: running.clear } }),
    Admission: admission,
  };
}

/** The YAML of a file: one entry per line, small maps of plain values in braces. */
export function writeYaml(file: ConfigurationInput): string {
  const document = new Document(file, { aliasDuplicateObjects: false });
  visit(document, {
    Map: (_, map) => {
      map.flow = map.items.length <= 4 && map.items.every((pair) => isScalar(pair.value));
    },
  });
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}
