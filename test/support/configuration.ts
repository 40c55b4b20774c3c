import type { Configuration, Listener, ServerGroup } from '../../src/core/model.ts';
import { backend } from './decisions.ts';
import { xdsSettings } from './xds-settings.ts';

/** A group without load-aware settings, of two backends. */
export function serverGroup(name: string, change: Partial<ServerGroup> = {}): ServerGroup {
  return {
    name,
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

/** One group, `llama`, with a listener. */
export function configuration(change: Partial<Configuration> = {}): Configuration {
  return {
    xds: xdsSettings(),
    admin: { listen: { host: '127.0.0.1', port: 9090 } },
    log: { level: 'info', format: 'auto' },
    serverGroups: [serverGroup('llama')],
    listeners: [listener('llama')],
    ...change,
  };
}
