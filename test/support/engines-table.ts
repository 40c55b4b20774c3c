import { ENGINES } from '../../src/collect/engines/catalogue.ts';
import type { Engine, Metric } from '../../src/collect/engines/engine.ts';

const BEGIN = '<!-- engines: written by a test from src/collect/engines -->\n';
const END = '<!-- /engines -->\n';
const COLUMNS = [
  '`Engine`',
  'server',
  'page',
  'queued',
  'running',
  'KV utilisation',
  'finished',
  'moves with every few tokens',
  'names from',
];

/** A README with the table of engines and what there is to know of each, as their data say. */
export function withEnginesTable(readme: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`the README has no ${BEGIN} before ${END}`);
  return `${readme.slice(0, begin + BEGIN.length)}${table()}\n${notes()}${readme.slice(end)}`;
}

function table(): string {
  const rows = [COLUMNS, COLUMNS.map(() => '---'), ...ENGINES.map(row)];
  return rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function row(engine: Engine): readonly string[] {
  const { gauges } = engine;
  return [
    `\`${engine.name}\``,
    engine.product,
    page(engine),
    metric(gauges.TotalQueuedRequests),
    metric(gauges.RunningRequests),
    metric(gauges.KVCacheUtilization),
    metric(engine.finished),
    finest(engine),
    engine.source.kind === 'source' ? `its source, ${engine.source.version}` : 'documentation only',
  ];
}

function page({ path, port, scheme }: Engine): string {
  return [`\`${path}\``, port === undefined ? '' : `port ${port}`, scheme === 'https' ? 'https' : '']
    .filter((part) => part !== '')
    .join(', ');
}

/** By what one that stands still is known soon. */
function finest({ gauges, finished, tokens = [], coarse }: Engine): string {
  if (finished.length === 0) return 'none';
  if (tokens.length > 0) return metric(tokens);
  return coarse === true || metric(gauges.KVCacheUtilization) === 'none' ? 'none' : 'KV utilisation';
}

/** Names of current versions. */
function metric(sources: Metric): string {
  const current = sources.filter(({ former }) => former !== true);
  if (current.length === 0) return 'none';
  return current
    .map(({ name, labels = {} }) => {
      const pairs = Object.entries(labels).filter(([, value]) => value !== '');
      const braces = pairs.map(([label, value]) => `${label}="${value}"`).join(',');
      return `\`${name}${braces === '' ? '' : `{${braces}}`}\``;
    })
    .join(' or ');
}

function notes(): string {
  return ENGINES.map(({ name, note, source }) => {
    const where =
      source.kind === 'source'
        ? `Names: \`${source.repository}\`, \`${source.file}\`.`
        : `Names: ${source.document}.`;
    return `- \`${name}\`: ${note === undefined ? '' : `${note} `}${where}\n`;
  }).join('');
}
