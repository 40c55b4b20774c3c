import type { CollectSettings } from '../../src/core/model/collect-settings.ts';

/** How a plain metrics page is collected each second; every field of the settings at its default. */
export function collectSettings(change: Partial<CollectSettings> = {}): CollectSettings {
  return {
    timeoutSeconds: 1,
    intervalSeconds: 1,
    host: undefined,
    path: '/metrics',
    method: 'GET',
    port: undefined,
    scheme: 'http',
    headers: [],
    bearerTokenFile: undefined,
    tls: undefined,
    engine: 'Auto',
    leanScrape: true,
    metrics: {
      TotalQueuedRequests: undefined,
      KVCacheUtilization: undefined,
      RunningRequests: undefined,
      finished: undefined,
      labels: {},
    },
    ...change,
  };
}
