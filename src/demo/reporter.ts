import type { Clock } from '../runtime/clock.ts';
import type { Engine, EngineGauges, FinishedRequest } from './engine.ts';
import { LeanPage } from './lean-page.ts';
import { LOAD_REPORT_HEADER, LoadReports } from './load-report.ts';
import { MetricsPage } from './metrics-page.ts';
import type { Page } from './page.ts';
import { Past } from './past.ts';

export interface ReporterOptions {
  /** The metrics page: as large as vLLM's, the default, or only what load-aware routing reads of it. */
  readonly page?: 'full' | 'lean';
  /** Whether each answer carries an ORCA load report in a header. Default: not. */
  readonly loadReports?: boolean;
  /** The metrics page and load reports tell how it was this long ago, ms. Default 0. */
  readonly reportAgeMs?: number;
}

interface Report {
  readonly page: string;
  readonly load: string;
}

const MODEL_NAME = 'llama-3.1-8b';
const IDLE: EngineGauges = { running: 0, waiting: 0, kvUtilization: 0 };

/** What a backend tells of its load: the metrics page, and load reports in the headers of its answers. */
export class Reporter {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #page: Page;
  readonly #loadReports: LoadReports | undefined;
  /** undefined: reports are of the moment. */
  readonly #past: Past<Report> | undefined;
  #looksIdle = false;

  constructor(engine: Engine, clock: Clock, { page, loadReports, reportAgeMs = 0 }: ReporterOptions) {
    this.#engine = engine;
    this.#clock = clock;
    this.#page = page === 'lean' ? new LeanPage(MODEL_NAME) : new MetricsPage(MODEL_NAME);
    this.#loadReports = loadReports === true ? new LoadReports() : undefined;
    this.#past = reportAgeMs > 0 ? new Past(reportAgeMs) : undefined;
    this.note();
  }

  /** Whether the gauges tell of an idle engine, whatever it does. */
  set looksIdle(idle: boolean) {
    this.#looksIdle = idle;
    this.note();
  }

  finished(result: FinishedRequest): void {
    this.#page.record(result);
    this.#loadReports?.finished(result.finishedMs);
  }

  failed(): void {
    this.#loadReports?.failed(this.#clock.now());
  }

  /** Called when the engine has changed, for those that ask later how it was. */
  note(): void {
    this.#past?.put(this.#clock.now(), this.#now());
  }

  get page(): string {
    return this.#report.page;
  }

  /** Of an answer; empty where there are no load reports. */
  get headers(): Readonly<Record<string, string>> {
    return this.#loadReports === undefined ? {} : { [LOAD_REPORT_HEADER]: this.#report.load };
  }

  get #report(): Report {
    return this.#past?.at(this.#clock.now()) ?? this.#now();
  }

  #now(): Report {
    const { counters, settings } = this.#engine;
    const gauges = this.#looksIdle ? IDLE : this.#engine.gauges;
    return {
      page: this.#page.render({ gauges, counters, settings }),
      load: this.#loadReports?.render(gauges, settings, this.#clock.now()) ?? '',
    };
  }
}
