import type { CollectSettings } from '../core/model/collect-settings.ts';

/**
 * The path that asks an exporter for the series of these names alone, as Python's Prometheus client understands it.
 * The slash matters: vLLM and what is wired like it answers without one by a route that passes over the query.
 * https://prometheus.github.io/client_python/exporting/http/fastapi-gunicorn/
 * @param path without a query
 */
export function leanPath(path: string, names: readonly string[]): string {
  // a colon may stand in a query as it is, and nobody has to decode it
  const encoded = names.map((name) => encodeURIComponent(name).replaceAll('%3A', ':'));
  const query = encoded.map((name) => `name%5B%5D=${name}`).join('&');
  return `${path}${path.endsWith('/') ? '' : '/'}?${query}`;
}

/**
 * The path that a lean page can be asked for by; undefined: it is not to be, or there is no way to.
 * @param path of the page; default: that of the settings
 */
export function leanBase(settings: CollectSettings, path = settings.path): string | undefined {
  const { method, leanScrape } = settings;
  return leanScrape && method === 'GET' && !/[?#]/.test(path) ? path : undefined;
}
