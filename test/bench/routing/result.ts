import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { quantile } from '../../../src/demo/quantile.ts';
import type { BackendsAnswer } from './backends.ts';
import type { CountedFigures } from './counted-time.ts';
import type { Fate, GeneratorAnswer } from './generator.ts';
import { type CellResult, type CellSpec, LONG_PROMPT_TOKENS, type Requests } from './model.ts';
import { measuredFiles, ROOT } from './product.ts';
import type { Offered } from './trace.ts';

/** Beyond these a cell does not count. */
const LATE_MS_MOST = 20;
const MACHINE_CPU_MOST = 0.9;

export interface Measured {
  readonly spec: CellSpec;
  readonly attempt: number;
  readonly offered: readonly Offered[];
  /** Of each offered request. */
  readonly fates: GeneratorAnswer;
  readonly figures: CountedFigures;
  readonly backends: BackendsAnswer;
}

/** One counted request: what was offered, and what became of it; undefined: it was given up before it was sent. */
type Row = readonly [offered: Offered, fate: Fate | undefined];

export function resultOf(measured: Measured): CellResult {
  const { spec, attempt, offered, fates, figures, backends } = measured;
  const { scenario, arm, sidecars, seed, rateFactor } = spec;
  const warmUpMs = scenario.warmUpSeconds * 1000;
  const rows = offered
    .map((request, index): Row => [request, fates[index]])
    .filter(([{ atMs }]) => atMs >= warmUpMs);
  const requests = requestsOf(rows, spec, backends);
  const lateP99Ms = quantile(
    rows.flatMap(([, fate]) => fate?.lateMs ?? []),
    0.99,
  );
  const { insideCv, published, machineCpu, cpuSeconds, controlPlane } = figures;
  return {
    scenario: scenario.name,
    arm,
    sidecars,
    seed,
    rateFactor,
    attempt,
    seconds: scenario.stretches.reduce((sum, { seconds }) => sum + seconds, 0),
    ...checkout(),
    cores: availableParallelism(),
    disturbances: disturbances(lateP99Ms, machineCpu, rows),
    lateP99Ms,
    machineCpu,
    requests,
    spread: { insideCv, served: served(requests, backends.length), ...(published && { published }) },
    envoyCpuSeconds: cpuSeconds.envoys,
    benchCpuSeconds: { backends: cpuSeconds.backends, generator: cpuSeconds.generator },
    failures: failures(rows),
    controlPlane,
  };
}

function requestsOf(rows: readonly Row[], { scenario }: CellSpec, backends: BackendsAnswer): Requests {
  const places = new Map(backends.map(({ id }, index) => [id, index]));
  const column = <T>(of: (...row: Row) => T): readonly T[] => rows.map((row) => of(...row));
  const longFrom = LONG_PROMPT_TOKENS[scenario.stay];
  return {
    atMs: column(({ atMs }) => tenths(atMs - scenario.warmUpSeconds * 1000)),
    long: column(({ promptTokens }) => (promptTokens >= longFrom ? 1 : 0)),
    outcome: column((_, fate) => fate?.outcome ?? 'unfinished'),
    firstTokenMs: column((_, fate) => tenthsOrNull(fate?.firstTokenMs)),
    endMs: column((_, fate) => (fate?.outcome === 'unfinished' ? null : tenthsOrNull(fate?.endMs))),
    backend: column((_, fate) => places.get(fate?.backend ?? '') ?? null),
    retried: column((_, fate) => (fate?.retried === true ? 1 : 0)),
  };
}

function served({ backend }: Requests, backends: number): readonly number[] {
  const answered = backend.filter((index) => index !== null);
  return Array.from(
    { length: backends },
    (_, index) => answered.filter((by) => by === index).length / Math.max(1, answered.length),
  );
}

function disturbances(lateP99Ms: number, machineCpu: number, rows: readonly Row[]): readonly string[] {
  const overruns = rows.filter(([, fate]) => fate?.overrun === true).length;
  return [
    ...(lateP99Ms > LATE_MS_MOST
      ? [`the generator was ${lateP99Ms.toFixed(0)} ms late at p99, at most ${LATE_MS_MOST} are allowed`]
      : []),
    ...(machineCpu > MACHINE_CPU_MOST
      ? [
          `${(machineCpu * 100).toFixed(0)} % of the machine were in use, at most ${MACHINE_CPU_MOST * 100} % are allowed`,
        ]
      : []),
    ...(overruns > 0 ? [`${overruns} requests were not sent: too many were in flight`] : []),
  ];
}

/** Why requests failed, and how many. */
function failures(rows: readonly Row[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const [, fate] of rows) {
    if (fate?.failure === undefined) continue;
    counts.set(fate.failure, (counts.get(fate.failure) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

let known: Pick<CellResult, 'commit' | 'changed'> | undefined;

/** What is checked out, and whether files that are measured differ from it. */
function checkout(): Pick<CellResult, 'commit' | 'changed'> {
  known ??= {
    commit: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain', '--', ...measuredFiles()) !== '',
  };
  return known;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function tenthsOrNull(value: number | undefined): number | null {
  return value === undefined ? null : tenths(value);
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
