import { REDACTED } from '../config/mistake.ts';
import { toYaml } from '../config/to-yaml.ts';
import type { EngineName } from '../core/model/collect-settings.ts';
import type { Sample } from '../core/model/collection.ts';
import type { PageTime, ProbedMetric, ProbedPage } from './probe-page.ts';
import type { CollectorBlock } from './probe-target.ts';

export interface ProbeReport {
  readonly page: ProbedPage;
  /** What to write for it, if it is of use. */
  readonly block: CollectorBlock;
  readonly intervalSeconds: number;
  /** The engine that the page is of, where that is not the one that was named; undefined: none is known. */
  readonly otherEngine?: EngineName | undefined;
}

interface Warning {
  readonly text: string;
  /** The collector would have no sample. */
  readonly fatal: boolean;
}

/** From this part of a core on the production of the page is worth a warning. */
const COSTLY = 0.01;
/** Nobody but the engine knows what it costs; it cannot be more than this. */
const COST_BOUND = 'response time over interval, the network included';

/** Things to know before this page is relied on. */
export function warningsOf({ page, intervalSeconds, otherEngine }: ProbeReport): readonly Warning[] {
  const { metrics, sample, percentage, full, lean } = page;
  const warn = (text: string): Warning => ({ text, fatal: false });
  const lacking = metrics.filter(({ required, problem }) => required && problem !== undefined);
  const load = costOf(full, intervalSeconds);
  return [
    ...(otherEngine === undefined ? [] : [warn(`the page is ${otherEngine}'s: --engine ${otherEngine}`)]),
    ...lacking.map(({ name, problem }) => ({
      text: `there is no sample while ${name} has a weight: ${problem}`,
      fatal: true,
    })),
    ...metrics
      .filter(({ isScorer, found, missing }) => isScorer && found.length + missing.length === 0)
      .map(({ name }) => warn(`the engine has no metric for the scorer ${name}: leave it out`)),
    ...(sample === undefined ? [warn('the engine sleeps: such a backend takes no traffic')] : []),
    ...(percentage ? [warn('KV utilisation is above 1.1: it is read as a percentage')] : []),
    ...('refused' in lean && load > COSTLY
      ? [
          warn(
            `the page may cost the engine ${percent(load)} of a core (${COST_BOUND}): an upper bound, which other work on either machine raises, so repeat it when they are quiet; a longer Interval costs less`,
          ),
        ]
      : []),
  ];
}

/** Whether a collector would have a sample of the page, or know that its engine sleeps. */
export function isOfUse(report: ProbeReport): boolean {
  return !warningsOf(report).some(({ fatal }) => fatal);
}

export function probeText(report: ProbeReport): string {
  const { page, block, intervalSeconds } = report;
  const http = block.HttpMetricCollect;
  const rows = [
    ['page', `${http.Path}, ${size(page.full)}`],
    ['engine', engineText(page)],
    ['sample', page.sample === undefined ? 'none' : sampleText(page.sample)],
    ...page.metrics.map((metric, index) => [index === 0 ? 'metrics' : '', metricText(metric)]),
    ['lean', leanText(page.lean)],
    ['cost', costText(page, intervalSeconds)],
    ...warningsOf(report).map(({ text }) => ['warning', text]),
  ];
  const lines = rows.map(([name = '', text = '']) => `${name.padEnd(9)}${text}\n`);
  if (!isOfUse(report)) return lines.join('');
  return [
    ...lines,
    '\n# Into Config of the service extension. Port may go where it is the port of the servers.\n',
    holdsSecrets(http) ? '# Values of headers are not shown: put them in, or {File: PATH}.\n' : '',
    toYaml({ MetricCollector: withoutSecrets(block) }),
  ].join('');
}

/** The same for programs. */
export function probeJson(report: ProbeReport): unknown {
  const { page, block, intervalSeconds } = report;
  const { engine } = page;
  return {
    path: page.path,
    engine: engine && { name: engine.name, product: engine.product, source: engine.source },
    page: page.full,
    lean: page.lean,
    costOfCoreAtMost: costOf(readPage(page), intervalSeconds),
    asleep: page.sample === undefined,
    sample: page.sample,
    metrics: page.metrics,
    warnings: warningsOf(report).map(({ text }) => text),
    ...(isOfUse(report) ? { MetricCollector: withoutSecrets(block) } : {}),
  };
}

function engineText({ engine }: ProbedPage): string {
  if (engine === undefined) return 'none that is known';
  const { name, product, source } = engine;
  const named = name === product ? name : `${name} (${product})`;
  return source.kind === 'source'
    ? `${named}; its names are checked in its source, ${source.repository} ${source.version}`
    : `${named}; its names are by documentation only: ${source.document}`;
}

function sampleText({ queued, running, kvUtilization, finished, latency }: Sample): string {
  const shown = (value: number | undefined): string => (value === undefined ? 'unknown' : String(value));
  return [
    `queued ${shown(queued)}`,
    `running ${shown(running)}`,
    `KV cache ${kvUtilization === undefined ? 'unknown' : percent(kvUtilization)}`,
    `finished ${shown(finished)}`,
    ...(latency === undefined || latency.count === 0
      ? []
      : [`${(latency.sumSeconds / latency.count).toFixed(2)} s each`]),
  ].join(', ');
}

function metricText({ name, found, missing, problem }: ProbedMetric): string {
  const there = found.map((of) => `${of.name} (${of.series} series)`).join(', ');
  // another name of the same is no loss
  const text =
    problem === undefined ? there : [problem, there].filter((part) => part !== '').join('; on the page: ');
  const others = problem === undefined && missing.length > 0 ? `; not there: ${missing.join(', ')}` : '';
  return `${name.padEnd(20)}${text}${others}`;
}

function leanText(lean: ProbedPage['lean']): string {
  if ('unclear' in lean) return `not told: ${lean.unclear}; values may have moved meanwhile, try again`;
  return 'refused' in lean ? `no: ${lean.refused}` : `yes: ${size(lean)}`;
}

/** What a collector reads of it, as far as it is told. */
function readPage({ full, lean }: ProbedPage): PageTime {
  return 'bytes' in lean ? lean : full;
}

function costText(page: ProbedPage, intervalSeconds: number): string {
  const load = costOf(readPage(page), intervalSeconds);
  return `at most ${percent(load)} of a core of the engine, once in ${intervalSeconds} s (${COST_BOUND})`;
}

/** The part of a core that the production of a page may take. */
function costOf({ milliseconds }: PageTime, intervalSeconds: number): number {
  return milliseconds / 1000 / intervalSeconds;
}

function size({ bytes, milliseconds }: PageTime): string {
  return `${(bytes / 1000).toFixed(1)} kB in ${milliseconds.toFixed(1)} ms`;
}

function percent(part: number): string {
  return `${Number((100 * part).toPrecision(2))} %`;
}

/** Whether some headers stand there themselves, not only files with them. */
function holdsSecrets({ Headers: headers = {} }: CollectorBlock['HttpMetricCollect']): boolean {
  return Object.values(headers).some((value) => typeof value === 'string');
}

function withoutSecrets(block: CollectorBlock): CollectorBlock {
  const http = block.HttpMetricCollect;
  if (http.Headers === undefined) return block;
  const shown = { ...http.Headers };
  for (const [name, value] of Object.entries(shown)) {
    if (typeof value === 'string') shown[name] = REDACTED;
  }
  return { ...block, HttpMetricCollect: { ...http, Headers: shown } };
}
