import { Document, isScalar, visit } from 'yaml';
import { formatHostPort } from '../runtime/host-port.ts';
import { resolveLbPolicy, resolveSaturation } from './resolve.ts';
import type { ComponentFields, ConfigurationFile, ConfigurationInput } from './schema.ts';

/** A valid file as an operator would write it with every default in place. It stands for the same configuration. */
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
      Servers: group.Servers,
    })),
    ServiceExtensions: file.ServiceExtensions.map((extension) => ({
      ...extension,
      Components: extension.Components.map((component) => ({
        ...component,
        Config: {
          ...component.Config,
          Scheduler: { ...component.Config.Scheduler, Saturation: effectiveSaturation(component.Config) },
        },
      })),
    })),
    Listeners: file.Listeners,
  };
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
