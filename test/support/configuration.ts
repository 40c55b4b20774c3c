import type { AdminSettings, Configuration, Listener } from '../../src/core/model/configuration.ts';
import type { ServerGroup } from '../../src/core/model/server-group.ts';
import { backend } from './decisions.ts';
import { xdsSettings } from './xds-settings.ts';

/** A group without load-aware settings, of two backends. */
export function serverGroup(name: string, change: Partial<ServerGroup> = {}): ServerGroup {
  return {
    name,
    mode: 'Active',
    envoyLbPolicy: 'LeastRequest',
    retryAfterSeconds: 1,
    outlierDetection: true,
    servers: [backend(11), backend(12)],
    loadAware: undefined,
    ...change,
  };
}

export function listener(of: string, change: Partial<Listener> = {}): Listener {
  return { name: 'inference', address: '0.0.0.0', port: 10_000, serverGroup: of, ...change };
}

/** `Admin` as it is by default, but for the port. */
export function adminSettings(port = 0, change: Partial<AdminSettings> = {}): AdminSettings {
  const listen = { host: '127.0.0.1', port };
  return { listen, tls: undefined, bearerTokenFile: undefined, hosts: [], ...change };
}

/** One group, `llama`, with a listener. */
export function configuration(change: Partial<Configuration> = {}): Configuration {
  return {
    xds: xdsSettings(),
    admin: adminSettings(9090),
    log: { level: 'info', format: 'auto' },
    serverGroups: [serverGroup('llama')],
    listeners: [listener('llama')],
    ...change,
  };
}
