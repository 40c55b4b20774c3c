import { LiveState } from '../../src/admin/live-state.ts';
import { AdminServer, type AdminOptions } from '../../src/admin/server.ts';
import { systemClock, unixMs } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { adminSettings } from './configuration.ts';

/** What `/state` tells of a control plane without groups. */
export function emptyState(): LiveState {
  return new LiveState({
    version: '0.0.0',
    file: 'plimsoll.yaml',
    ready: () => true,
    status: () => undefined,
    now: () => systemClock.now(),
    unixMs,
  });
}

/** An admin server on a port of the kernel's choice that knows nothing but what `options` say. */
export function adminServer(options: Partial<AdminOptions> = {}): AdminServer {
  return new AdminServer({
    settings: adminSettings(),
    clock: systemClock,
    log: silentLogger,
    ready: () => true,
    metrics: () => Promise.resolve(''),
    metricsContentType: 'text/plain; version=0.0.4',
    explain: { groups: () => [], status: () => undefined, now: () => 0, openStreams: () => 0 },
    state: emptyState(),
    ...options,
  });
}
