import type { Engine, Metric } from '../collect/engines/engine.ts';
import type { Families } from '../collect/exposition.ts';
import type { LeanVerdict } from '../collect/lean-comparison.ts';
import { leanBase } from '../collect/lean-path.ts';
import type { MetricSet } from '../collect/metric-set.ts';
import { readMetric } from '../collect/metric-values.ts';
import { PageClient } from '../collect/page-client.ts';
import { SampleReader } from '../collect/sample.ts';
import { SamplePlan } from '../collect/sample-plan.ts';
import { Scrape, type Scraped } from '../collect/scrape.ts';
import { engineNamed } from '../collect/engines/catalogue.ts';
import type { Backend } from '../core/model/backend.ts';
import type { ScorerName } from '../core/model/balance-settings.ts';
import type { CollectSettings } from '../core/model/collect-settings.ts';
import type { CollectFailure, Sample } from '../core/model/collection.ts';
import { systemClock } from '../runtime/clock.ts';

const SCORERS: readonly ScorerName[] = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'];

/** How one number stands on the page. */
export interface ProbedMetric {
  readonly name: ScorerName | 'Finished' | 'Latency';
  readonly isScorer: boolean;
  /** By the name on the page, how many series. */
  readonly found: readonly { readonly name: string; readonly series: number }[];
  /** Names that are read too and are not there. */
  readonly missing: readonly string[];
  /** Why there is no value; undefined: there is one. */
  readonly problem: string | undefined;
  /** Without it there is no sample, where its scorer has a weight. */
  readonly required: boolean;
}

export interface PageTime {
  readonly bytes: number;
  readonly milliseconds: number;
}

export interface ProbedPage {
  readonly kind: 'page';
  readonly path: string;
  /** undefined: none that is known. */
  readonly engine: Engine | undefined;
  readonly full: PageTime;
  /** `unclear`: why it cannot be told this time. */
  readonly lean: PageTime | { readonly refused: string } | { readonly unclear: string };
  /** undefined: the engine sleeps. */
  readonly sample: Sample | undefined;
  readonly percentage: boolean;
  readonly metrics: readonly ProbedMetric[];
}

export type Probed =
  | ProbedPage
  | { readonly kind: 'failure'; readonly path: string; readonly failure: CollectFailure };

/** How often a page is fetched for its time, of which the shortest counts, and compared at most. */
const TIMES = 3;

/** Fetches a page as the collector does, a few times: a new connection is part of the first one's time. */
export async function probePage(backend: Backend, settings: CollectSettings): Promise<Probed> {
  const source = new PageClient(backend, settings);
  try {
    // whatever is on the page: what a sample needs is judged when it is told
    const plan = new SamplePlan(settings, []);
    const scrape = new Scrape({
      source,
      reader: new SampleReader(plan),
      clock: systemClock,
      leanPath: leanBase(settings),
      spread: 0,
    });
    return await probe(scrape, settings);
  } finally {
    await source.close();
  }
}

async function probe(scrape: Scrape, settings: CollectSettings): Promise<Probed> {
  const { path } = settings;
  const deadline = (): AbortSignal => AbortSignal.timeout(settings.timeoutSeconds * 1000);
  const first = await scrape.read(deadline());
  if (first.kind === 'failure') return { ...first, path };
  if (first.reading.kind === 'failure') return { ...first.reading, path };
  const { page: full, time } = await timed(() => scrape.read(deadline()));
  if (full.kind === 'failure') return { ...full, path };
  const { reading } = full;
  if (reading.kind === 'failure') return { ...reading, path };
  const engine = reading.engine === undefined ? undefined : engineNamed(reading.engine);
  const set = new SamplePlan(settings, SCORERS).setFor(engine);
  return {
    kind: 'page',
    path,
    engine,
    full: time,
    lean: await leanOf(scrape, settings, deadline),
    sample: reading.kind === 'sample' ? reading.sample : undefined,
    percentage: reading.kind === 'sample' && reading.percentage,
    metrics: metricsOf(set, reading.families),
  };
}

async function leanOf(
  scrape: Scrape,
  settings: CollectSettings,
  deadline: () => AbortSignal,
): Promise<ProbedPage['lean']> {
  if (leanBase(settings) === undefined) return { refused: 'the path has a query' };
  const verdict = await compared(scrape, deadline);
  if (verdict === undefined) return { refused: 'there is no sample to compare' };
  if (verdict.kind === 'unclear') return { unclear: verdict.reason };
  if (verdict.kind === 'full') return { refused: verdict.reason };
  const { page, time } = await timed(() => scrape.read(deadline()));
  return page.kind === 'page' && page.lean
    ? time
    : { refused: scrape.lost ?? 'it did not come a second time' };
}

/** On a busy server values move between the pages: what is unclear is tried again, as the collector does. */
async function compared(scrape: Scrape, deadline: () => AbortSignal): Promise<LeanVerdict | undefined> {
  let verdict = await scrape.compare(deadline());
  for (let time = 1; time < TIMES && verdict?.kind === 'unclear'; time++) {
    await scrape.read(deadline());
    verdict = (await scrape.compare(deadline())) ?? verdict;
  }
  return verdict;
}

/** The last one and the shortest time, or the first one that fails. */
async function timed(
  read: () => Promise<Scraped>,
): Promise<{ readonly page: Scraped; readonly time: PageTime }> {
  let milliseconds = Infinity;
  for (let time = 1; ; time++) {
    const started = systemClock.now();
    const page = await read();
    milliseconds = Math.min(milliseconds, systemClock.now() - started);
    if (time === TIMES || page.kind === 'failure')
      return { page, time: { bytes: page.kind === 'page' ? page.page.length : 0, milliseconds } };
  }
}

function metricsOf(set: MetricSet, families: Families): readonly ProbedMetric[] {
  const { gauges, finished, latency } = set;
  return [
    ...SCORERS.map((name) => probed(name, [gauges[name]], families, set.required.includes(name))),
    probed('Finished', [finished], families, false),
    probed('Latency', [latency.sum, latency.count], families, false),
  ];
}

function probed(
  name: ProbedMetric['name'],
  metrics: readonly Metric[],
  families: Families,
  required: boolean,
): ProbedMetric {
  const names = metrics.flatMap((metric) => metric.map((source) => source.name));
  const problems = metrics.flatMap((metric) => {
    const read = readMetric(families, metric);
    return read.kind === 'failure' ? read.failure.message : [];
  });
  return {
    name,
    isScorer: name !== 'Finished' && name !== 'Latency',
    found: names.flatMap((of) =>
      families.has(of) ? { name: of, series: families.get(of)?.length ?? 0 } : [],
    ),
    missing: names.filter((of) => !families.has(of)),
    problem: names.length === 0 ? 'the engine has none' : problems[0],
    required,
  };
}
