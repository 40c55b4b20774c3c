import type { SampledGroup, SampleHeader } from '../admin/sample-shape.ts';
import type { BackendId } from '../core/model/backend.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { GroupReplay, type ReplayStep } from './group-replay.ts';
import type { RecordedLine } from './recording.ts';
import type { Span } from './series.ts';
import { type SurveyedGroup, unixOf } from './survey.ts';
import { Difference, type ShareFigures, type SideFigures, Tally } from './tally.ts';

/** What has been learned before a recording begins fades by then. */
const WARM_UP_SECONDS = 60;
const WARM_UP_INTERVALS = 6;
/** No more than this is left out of what was recorded of a process. */
const WARM_UP_MOST = 0.2;

export interface GroupReport {
  readonly serverGroup: string;
  /** Recorded backends that the other configuration does not have: left out. */
  readonly unknownBackends: readonly BackendId[];
  /** Its backends that were not recorded: left out. */
  readonly unrecordedBackends: readonly BackendId[];
  readonly from: number;
  readonly to: number;
  /** Evaluations that are not counted below, since what the process had learned before is not known. */
  readonly warmUpEvaluations: number;
  readonly evaluations: number;
  readonly missedEvaluations: number;
  readonly identicalEvaluations: number;
  readonly learningEvaluations: number;
  readonly movedShareRatio: number;
  /** The configuration that was recorded, on the same samples; null: this version does not know all of it. */
  readonly baseline: BaselineReport | null;
  readonly observed: boolean;
  readonly intervalSeconds: { readonly recorded: readonly number[]; readonly wanted: number };
  readonly was: SideFigures;
  readonly would: SideFigures;
  readonly backends: readonly {
    readonly backend: BackendId;
    readonly was: ShareFigures;
    readonly would: ShareFigures;
  }[];
}

export interface BaselineReport {
  /** Evaluations after which it has exactly what was published, and how much of the requests went elsewhere on average. */
  readonly identicalEvaluations: number;
  readonly movedShareRatio: number;
  readonly figures: SideFigures;
  /** In the order of the report's backends. */
  readonly shares: readonly ShareFigures[];
  /** The other configuration against it: what the change makes. */
  readonly changedIdenticalEvaluations: number;
  readonly changedShareRatio: number;
}

/** Replays one group of a recording, whose lines are given in their order. */
export class Replay {
  readonly #settings: ServerGroup;
  readonly #surveyed: SurveyedGroup;
  readonly #group: GroupReplay;
  readonly was: Tally;
  readonly would: Tally;
  readonly #difference = new Difference();
  readonly #baseline: GroupReplay | undefined;
  readonly #baselineTally: Tally;
  readonly #baselineDifference = new Difference();
  readonly #changeDifference = new Difference();
  readonly #warmUpMs: number;
  /** How often another process told than before. */
  #changes = 0;
  #header: SampleHeader | undefined;
  #warmUntilMs = Number.NEGATIVE_INFINITY;
  #isWarm = true;
  #warmUps = 0;

  /** @param settings its group in the other configuration, with load-aware settings */
  constructor(settings: ServerGroup, surveyed: SurveyedGroup, span: Span) {
    this.#settings = settings;
    this.#surveyed = surveyed;
    this.#group = new GroupReplay(settings);
    this.#baseline = surveyed.isKnown ? new GroupReplay(settings, 'recording') : undefined;
    const ids = [...surveyed.backends];
    this.was = new Tally(ids, span);
    this.would = new Tally(ids, span);
    this.#baselineTally = new Tally(ids, span);
    const interval = Math.max(...surveyed.intervalSeconds, settings.loadAware?.collect.intervalSeconds ?? 0);
    const seconds = Math.max(WARM_UP_SECONDS, WARM_UP_INTERVALS * interval);
    this.#warmUpMs = 1000 * seconds;
  }

  take(line: RecordedLine): void {
    if (line.kind === 'plimsoll samples') this.#begin(line);
    if (line.kind === 'groups') this.#configure(line.groups);
    if (line.kind !== 'evaluation' || line.group !== this.#settings.name) return;
    // a group that went and came back has learned nothing
    if (line.number === 1) this.#restart();
    const baseline = this.#baseline?.evaluate(line);
    const step = this.#group.evaluate(line);
    if (this.#header === undefined) return;
    if (!this.#isWarm) {
      this.#isWarm = true;
      const { from, to } = this.#surveyed.spans.get(this.#changes) ?? { from: 0, to: 0 };
      this.#warmUntilMs = line.atMs + Math.min(this.#warmUpMs, WARM_UP_MOST * (to - from));
    }
    if (line.atMs < this.#warmUntilMs) {
      if (step !== undefined) this.#warmUps++;
      return;
    }
    const at = unixOf(this.#header, line.atMs);
    // what was recorded counts whole, also what a longer Interval leaves out
    this.was.add(this.#group.was, line.published?.reason, at);
    if (baseline !== undefined) this.#baselineTally.add(baseline.would, baseline.wouldPublish, at);
    if (step !== undefined) this.#compare(step, baseline, at);
  }

  #compare(step: ReplayStep, baseline: ReplayStep | undefined, at: number): void {
    this.would.add(step.would, step.wouldPublish, at);
    this.#difference.add(step);
    if (baseline === undefined) return;
    this.#baselineDifference.add(baseline);
    this.#changeDifference.add({ ...step, was: baseline.would });
  }

  get report(): GroupReport {
    const { backends, span, missed, modes, intervalSeconds } = this.#surveyed;
    const { discovery, servers: listed } = this.#settings;
    const servers = discovery === undefined ? new Set(listed.map(({ id }) => id)) : backends;
    const { evaluations, identical, learning, movedShareRatio } = this.#difference.figures;
    return {
      serverGroup: this.#settings.name,
      unknownBackends: [...backends].filter((id) => !servers.has(id)),
      unrecordedBackends: [...servers].filter((id) => !backends.has(id)),
      from: span?.from ?? 0,
      to: span?.to ?? 0,
      warmUpEvaluations: this.#warmUps,
      evaluations,
      missedEvaluations: missed,
      identicalEvaluations: identical,
      learningEvaluations: learning,
      movedShareRatio,
      baseline: this.#baselineReport,
      observed: modes.has('Observe'),
      intervalSeconds: {
        recorded: [...intervalSeconds],
        wanted: this.#settings.loadAware?.collect.intervalSeconds ?? 0,
      },
      was: this.was.figures,
      would: this.would.figures,
      backends: [...backends].map((backend) => ({
        backend,
        was: this.was.shareOf(backend),
        would: this.would.shareOf(backend),
      })),
    };
  }

  get #baselineReport(): BaselineReport | null {
    if (this.#baseline === undefined) return null;
    const baseline = this.#baselineDifference.figures;
    const change = this.#changeDifference.figures;
    return {
      identicalEvaluations: baseline.identical,
      movedShareRatio: baseline.movedShareRatio,
      figures: this.#baselineTally.figures,
      shares: [...this.#surveyed.backends].map((backend) => this.#baselineTally.shareOf(backend)),
      changedIdenticalEvaluations: change.identical,
      changedShareRatio: change.movedShareRatio,
    };
  }

  #restart(): void {
    this.#group.restart();
    this.#baseline?.restart();
  }

  #begin(header: SampleHeader): void {
    const before = this.#header?.instance;
    this.#header = header;
    if (before !== header.instance) {
      if (before !== undefined) this.#changes++;
      this.#restart();
      const recorded = header.groups.find(({ name }) => name === this.#settings.name);
      this.#isWarm = (recorded?.evaluations ?? 0) === 0;
      this.#warmUntilMs = Number.NEGATIVE_INFINITY;
    }
    this.#configure(header.groups);
  }

  #configure(groups: readonly SampledGroup[]): void {
    const recorded = groups.find(({ name }) => name === this.#settings.name);
    if (recorded === undefined) return;
    this.#group.configure(recorded);
    this.#baseline?.configure(recorded);
  }
}
