import { goodputOf } from './comparison.ts';
import type { CellResult, CellSpec } from './model.ts';
import { percent } from './numerals.ts';
import type { Plan } from './planner.ts';
import { attemptOf, playSeconds } from './planner.ts';
import { type PlayEvents, secondsLeft } from './player.ts';

/** Says what is played and how long the rest takes, one line for each finished cell. */
export class Progress implements PlayEvents {
  readonly #plan: Plan;
  readonly #jobs: number;
  readonly #say: (line: string) => void;
  readonly #now: () => number;
  readonly #startedAt = new Map<CellSpec, number>();
  #planned = 0;
  #took = 0;

  /** @param options.now seconds */
  constructor(options: {
    readonly plan: Plan;
    readonly jobs: number;
    readonly say: (line: string) => void;
    readonly now: () => number;
  }) {
    this.#plan = options.plan;
    this.#jobs = options.jobs;
    this.#say = options.say;
    this.#now = options.now;
  }

  begin(): void {
    const open = this.#plan.open();
    const done = this.#plan.size - open.length;
    const rest = open.length === 0 ? 'nothing to play' : `${formatDuration(this.#left(open))} to go`;
    this.#say(`${this.#plan.size} cells, ${done} done, ${this.#jobs} at a time: ${rest}`);
  }

  started(spec: CellSpec): void {
    this.#startedAt.set(spec, this.#now());
  }

  finished(spec: CellSpec, result: CellResult): void {
    this.#planned += playSeconds(spec);
    this.#took += this.#now() - (this.#startedAt.get(spec) ?? this.#now());
    this.#startedAt.delete(spec);
    const outcome =
      result.disturbances.length === 0
        ? `${percent(goodputIn(spec, result))} % in time`
        : `disturbed: ${result.disturbances.join('; ')}`;
    this.#report(spec, outcome);
  }

  failed(spec: CellSpec, error: unknown): void {
    this.#startedAt.delete(spec);
    this.#report(spec, `FAILED: ${error instanceof Error ? error.message : String(error)}`);
  }

  #report(spec: CellSpec, outcome: string): void {
    const open = this.#plan.open();
    const { size } = this.#plan;
    const count = `${String(size - open.length).padStart(String(size).length)}/${size}`;
    const left = open.length === 0 ? '' : `; ${formatDuration(this.#left(open))} left`;
    this.#say(`${count} ${describe(spec)}: ${outcome}${left}`);
  }

  #left(open: readonly CellSpec[]): number {
    return secondsLeft(open, this.#jobs, this.#planned === 0 ? 1 : this.#took / this.#planned);
  }
}

export function describe(spec: CellSpec): string {
  const { scenario, arm, sidecars, seed, rateFactor } = spec;
  const again = attemptOf(spec) > 0 ? `, at ${rateFactor} of the rate` : '';
  return `${scenario.name}, ${arm}, ${sidecars} sidecar${sidecars === 1 ? '' : 's'}, seed ${seed}${again}`;
}

/** `2 h 05 min`, `12 min`, `40 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}

function goodputIn({ scenario, arm, sidecars }: CellSpec, cell: CellResult): number {
  const row = { scenario, arm, sidecars, cells: [cell], disturbed: [], products: [] };
  return goodputOf(row)?.value ?? Number.NaN;
}
