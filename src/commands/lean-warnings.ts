import { resolveLeanScrape } from '../config/resolve.ts';
import type { ConfigurationFile, ServiceExtensionFields } from '../config/schema.ts';
import { printable } from '../runtime/text.ts';

type MetricCollector = ServiceExtensionFields['Components'][number]['Config']['MetricCollector'];

/** Says of every collector that is quick what it costs the engines, where a page can only be had as a whole. */
export function leanWarnings(file: ConfigurationFile): readonly string[] {
  return file.ServiceExtensions.flatMap(({ Name, Components }) =>
    Components.flatMap(({ Config }) => warningOf(Name, Config.MetricCollector) ?? []),
  );
}

function warningOf(extension: string, collector: MetricCollector): string | undefined {
  const { IntervalMilliseconds: milliseconds, HttpMetricCollect: http } = collector;
  if (milliseconds === undefined || resolveLeanScrape(http)) return undefined;
  return (
    `${printable(extension)}: with IntervalMilliseconds ${milliseconds} every page is read as a whole (${reasonOf(http)}); ` +
    'producing it may cost the engine more than 1 % of a core. `plimsoll probe` measures a page, lean and full.'
  );
}

function reasonOf({ LeanScrape, Method }: MetricCollector['HttpMetricCollect']): string {
  if (LeanScrape === false) return 'LeanScrape: false';
  return Method === 'GET' ? 'Path has a query' : `Method: ${Method}`;
}
