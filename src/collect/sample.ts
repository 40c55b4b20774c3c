import type { ScorerName } from '../core/model/balance-settings.ts';
import type { EngineName } from '../core/model/collect-settings.ts';
import type { Sample } from '../core/model/collection.ts';
import type { Engine, Metric } from './engines/engine.ts';
import { type Families, LINES_MAX, looksLikeExposition, parseExposition, SERIES_MAX } from './exposition.ts';
import type { LineFinder } from './line-finder.ts';
import type { MetricSet } from './metric-set.ts';
import { type Failed, failed, mean, readMetric, sum, type Values } from './metric-values.ts';
import { notMetrics, plainPage } from './plain-page.ts';
import type { SamplePlan } from './sample-plan.ts';

/** The engine that a page is of, and what was found on it. */
interface Found {
  /** undefined: none that is known, the settings name the metrics themselves. */
  readonly engine: EngineName | undefined;
  /** The series of the names that are read, by these. They hold on to the page. */
  readonly families: Families;
}

export type SampleReading =
  | (Found & {
      readonly kind: 'sample';
      readonly sample: Sample;
      /** The page has KV utilisation as a percentage; the sample has it divided by 100. */
      readonly percentage: boolean;
    })
  /** The page says that the engine sleeps: it would not serve a request. */
  | (Found & { readonly kind: 'asleep' })
  | Failed;

/** Up to so many times the full cache, a KV utilisation may be by an estimate or by rounding. */
const FULL_MAX = 1.1;

/** What the KV gauge of an engine that may count to 100 has told so far; it takes a value above 0 to tell something. */
interface Scale {
  /** undefined: nothing above 0 seen. */
  readonly countsTo: 1 | 100 | undefined;
  /** A value above {@link FULL_MAX} of an engine that is believed to count to 1; undefined: none seen. */
  readonly doubted: number | undefined;
}

const UNKNOWN: Scale = { countsTo: undefined, doubted: undefined };

/** Turns the pages of one backend into samples, and remembers its engine. Unknown is not zero. */
export class SampleReader {
  readonly #plan: SamplePlan;
  /** undefined: the engine is not known yet, or no longer. */
  #set: MetricSet | undefined;
  /** The newest one that was known: {@link #scale} and {@link #finished} are of it. */
  #engine: Engine | undefined;
  #scale = UNKNOWN;
  /** Of the newest page that had it. */
  #finished = 0;

  constructor(plan: SamplePlan) {
    this.#plan = plan;
    this.#set = plan.configured;
  }

  /** undefined: not known. */
  get engine(): EngineName | undefined {
    return this.#set?.engine?.name;
  }

  /** The names of all that the next page is read for; undefined: the engine has to be found out first. */
  get wantedNames(): readonly string[] | undefined {
    return this.#set?.names;
  }

  /** Never throws, whatever the bytes. */
  read(bytes: Uint8Array): SampleReading {
    const plain = plainPage(bytes);
    return plain.kind === 'failure' ? plain : this.#read(plain.page);
  }

  #read(page: Buffer): SampleReading {
    const set = this.#set;
    if (set === undefined) return this.#recognize(page);
    const families = familiesOf(page, set.finder);
    if (families.kind === 'failure') return families;
    const reading = this.#sample(families.families, set);
    // one that is configured stays what it is
    return isLost(reading, families.families, set) && this.#plan.configured === undefined
      ? this.#recognize(page)
      : reading;
  }

  #recognize(page: Buffer): SampleReading {
    const all = familiesOf(page, this.#plan.everything);
    if (all.kind === 'failure') return all;
    const set = this.#plan.recognize(all.families);
    this.#set = set.engine === undefined ? undefined : set;
    // one incomplete page is no other engine
    if (set.engine !== undefined && set.engine !== this.#engine) {
      this.#engine = set.engine;
      this.#scale = UNKNOWN;
      this.#finished = 0;
    }
    if (set.names.length === 0) return failed('metric_absent', NO_ENGINE);
    const wanted = new Set(set.names);
    return this.#sample(new Map([...all.families].filter(([name]) => wanted.has(name))), set);
  }

  #sample(families: Families, set: MetricSet): SampleReading {
    const found = { engine: set.engine?.name, families };
    if (isAsleep(families, set.awake)) return { ...found, kind: 'asleep' };
    const { TotalQueuedRequests, KVCacheUtilization, RunningRequests } = set.gauges;
    const values: Record<ScorerName, Values> = {
      TotalQueuedRequests: readMetric(families, TotalQueuedRequests),
      KVCacheUtilization: utilizations(readMetric(families, KVCacheUtilization)),
      RunningRequests: readMetric(families, RunningRequests),
    };
    for (const scorer of set.required) {
      const required = values[scorer];
      if (required.kind === 'failure') return required;
    }
    const kv = mean(values.KVCacheUtilization);
    const finished = sum(readMetric(families, set.finished));
    this.#noticeRestart(finished);
    const percentage = this.#isPercentage(values.KVCacheUtilization, set);
    const sumSeconds = sum(readMetric(families, set.latency.sum));
    const count = sum(readMetric(families, set.latency.count));
    const takenInTokens = sum(readMetric(families, set.prompts.takenIn));
    const answeredTokens = sum(readMetric(families, set.prompts.answered));
    const tokens = sum(readMetric(families, set.tokens));
    const sample: Sample = {
      queued: sum(values.TotalQueuedRequests),
      running: sum(values.RunningRequests),
      kvUtilization: kv && Math.min(1, percentage ? kv / 100 : kv),
      finished,
      latency: sumSeconds === undefined || count === undefined ? undefined : { sumSeconds, count },
      ...(takenInTokens !== undefined &&
        answeredTokens !== undefined && { prompts: { takenInTokens, answeredTokens } }),
      ...(tokens !== undefined && { tokens }),
      ...(tokens === undefined && set.coarse && { coarse: true }),
    };
    return { ...found, kind: 'sample', sample, percentage };
  }

  /** What starts again at the same address may be another version. */
  #noticeRestart(finished: number | undefined): void {
    if (finished === undefined) return;
    if (finished < this.#finished) this.#scale = UNKNOWN;
    this.#finished = finished;
  }

  /**
   * Utilisation is 0..1, and one just above that is full: to take it for a hundredth would send everything there. A larger
   * one is a percentage, and of an engine that may count to 100 it tells how to read small values.
   */
  #isPercentage(read: Values, { mayCountToHundred }: MetricSet): boolean {
    if (read.kind === 'failure') return false;
    const most = read.values.reduce((left, right) => Math.max(left, right), 0);
    if (!mayCountToHundred) return most > FULL_MAX;
    this.#scale = scaleAfter(this.#scale, most);
    return most > FULL_MAX || this.#scale.countsTo === 100;
  }
}

/**
 * An engine that counts to 100 stays one, as a nearly idle one shows next to nothing above 1 %. After values that it takes
 * for 0..1, one large value may be absurd: only another large one, which is no repetition, tells that it counts to 100.
 *
 * Undecided stays an engine that counts to 100 and has not been above {@link FULL_MAX} % since it started or is watched, or
 * only once after smaller values: it is read as one that counts to 1. And a gauge of 0..1 is read as hundredths until the
 * engine starts again if its first value is absurd, or two different ones are.
 */
function scaleAfter(scale: Scale, most: number): Scale {
  const { countsTo, doubted } = scale;
  if (most === 0 || countsTo === 100) return scale;
  if (most <= FULL_MAX) return { countsTo: 1, doubted };
  const isSure = countsTo === undefined || (doubted !== undefined && doubted !== most);
  return isSure ? { countsTo: 100, doubted: undefined } : { countsTo, doubted: most };
}

const TOO_LARGE = `too large: more than ${SERIES_MAX} series of these metrics, or ${LINES_MAX} lines`;
const NO_ENGINE =
  'metric absent: none of an engine that is known; some show theirs from the first request on, others are named by Metrics';

/** The wanted series of a page, or why it is none. */
function familiesOf(
  page: Buffer,
  wanted: LineFinder,
): { readonly kind: 'families'; readonly families: Families } | Failed {
  const families = parseExposition(page, wanted);
  if (families === undefined) return failed('too_large', TOO_LARGE);
  if (families.size === 0 && !looksLikeExposition(page)) return notMetrics(page);
  return { kind: 'families', families };
}

/**
 * Whether a page may be of another engine than it was read for: nothing of that is there, or not all. Engines have names
 * in common, so that one may have been taken for another when its page was incomplete.
 */
function isLost(reading: SampleReading, families: Families, { own }: MetricSet): boolean {
  if (reading.kind === 'failure' && reading.failure.kind === 'metric_absent') return true;
  return own.length > 0 && !own.some((name) => families.has(name));
}

/** Several engines on one page: as long as one of them is awake, requests are served. */
function isAsleep(families: Families, awake: Metric): boolean {
  const read = readMetric(families, awake);
  return read.kind === 'values' && read.values.every((value) => value === 0);
}

function utilizations(read: Values): Values {
  if (read.kind === 'failure') return read;
  const high = read.values.find((value) => value > 100 * FULL_MAX);
  return high === undefined ? read : failed('not_a_number', `${read.name} is ${high}, more than 100 %`);
}
