import type { SampledGroup, SampleHeader } from '../admin/sample-shape.ts';
import type { BackendId } from '../core/model/backend.ts';
import type { RecordedLine, RecordingEnd, RecordingGap } from './recording.ts';
import type { Span } from './series.ts';

/** What a recording has of one group. */
export interface SurveyedGroup {
  readonly backends: Set<BackendId>;
  readonly modes: Set<SampledGroup['mode']>;
  readonly intervalSeconds: Set<number>;
  /** All that it was configured to is known here. */
  isKnown: boolean;
  evaluations: number;
  /** Evaluations of the same processes that it lacks. */
  missed: number;
  /** Its evaluations begin with the first ones of each process. */
  fromStart: boolean;
  span: Span | undefined;
  /** The same, by visit: how often before it another process had told. */
  readonly spans: Map<number, Span>;
}

/** A first look at a recording: which groups it has, and of which time. */
export class Survey {
  readonly groups = new Map<string, SurveyedGroup>();
  readonly #isKnown: (group: SampledGroup) => boolean;
  readonly gaps: RecordingGap[] = [];
  /** How often another process tells than before: one that was started anew, or another one behind the same address. */
  changes = 0;
  end: RecordingEnd | undefined;
  /** By process and group. */
  readonly #numbers = new Map<string, number>();
  #header: SampleHeader | undefined;

  /** @param isKnown whether what a recorded group was configured to can be used here */
  constructor(isKnown: (group: SampledGroup) => boolean) {
    this.#isKnown = isKnown;
  }

  take(line: RecordedLine): void {
    switch (line.kind) {
      case 'plimsoll samples':
        this.#begin(line);
        break;
      case 'groups':
        for (const group of line.groups) this.#note(group);
        break;
      case 'evaluation': {
        const group = this.groups.get(line.group);
        if (group === undefined || this.#header === undefined) break;
        const at = unixOf(this.#header, line.atMs);
        const key = keyOf(this.#header, line.group);
        group.evaluations++;
        group.missed += Math.max(0, line.number - 1 - (this.#numbers.get(key) ?? 0));
        this.#numbers.set(key, line.number);
        group.span = extended(group.span, at);
        group.spans.set(this.changes, extended(group.spans.get(this.changes), at));
        break;
      }
      case 'gap':
        this.gaps.push(line);
        break;
      case 'end':
        this.end = line;
        break;
    }
  }

  /** From the first evaluation to the last one, of all groups. */
  get span(): Span | undefined {
    const spans = [...this.groups.values()].flatMap(({ span }) => span ?? []);
    if (spans.length === 0) return undefined;
    return {
      from: spans.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY),
      to: spans.reduce((most, { to }) => Math.max(most, to), Number.NEGATIVE_INFINITY),
    };
  }

  #begin(header: SampleHeader): void {
    const before = this.#header?.instance;
    this.#header = header;
    if (before !== undefined && before !== header.instance) this.changes++;
    for (const recorded of header.groups) {
      const group = this.#note(recorded);
      if (before === header.instance) continue;
      const key = keyOf(header, recorded.name);
      if (!this.#numbers.has(key)) this.#numbers.set(key, recorded.evaluations);
      if (recorded.evaluations > 0) group.fromStart = false;
    }
  }

  #note(recorded: SampledGroup): SurveyedGroup {
    const { name, backends, mode, intervalSeconds } = recorded;
    const group: SurveyedGroup = this.groups.get(name) ?? {
      backends: new Set(),
      modes: new Set(),
      intervalSeconds: new Set(),
      isKnown: true,
      evaluations: 0,
      missed: 0,
      fromStart: true,
      span: undefined,
      spans: new Map(),
    };
    this.groups.set(name, group);
    for (const { id } of backends) group.backends.add(id);
    group.modes.add(mode);
    group.intervalSeconds.add(intervalSeconds);
    if (!this.#isKnown(recorded)) group.isKnown = false;
    return group;
  }
}

function keyOf({ instance }: SampleHeader, group: string): string {
  return `${instance} ${group}`;
}

function extended(span: Span | undefined, at: number): Span {
  return { from: Math.min(at, span?.from ?? at), to: Math.max(at, span?.to ?? at) };
}

/** Unix milliseconds of a moment of the process that told. */
export function unixOf({ now, nowMs }: SampleHeader, atMs: number): number {
  return now + atMs - nowMs;
}
