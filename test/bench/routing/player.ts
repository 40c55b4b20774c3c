import type { CellResult, CellSpec } from './model.ts';
import { type Plan, playSeconds } from './planner.ts';

export interface PlayEvents {
  started(spec: CellSpec): void;
  finished(spec: CellSpec, result: CellResult): void;
  failed(spec: CellSpec, error: unknown): void;
}

/**
 * Plays the open cells of a plan, `jobs` at a time, until none is open, or `signal` ends it: then the cells in play are
 * given up. A cell that fails is not played again in this run.
 * @returns how many failed
 */
export async function playPlan(options: {
  readonly plan: Plan;
  readonly jobs: number;
  readonly play: (spec: CellSpec) => Promise<CellResult>;
  readonly save: (spec: CellSpec, result: CellResult) => void;
  readonly events: PlayEvents;
  readonly signal: AbortSignal;
}): Promise<number> {
  const { plan, jobs, play, save, events, signal } = options;
  const failed = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const run = async (spec: CellSpec): Promise<void> => {
    events.started(spec);
    try {
      const result = await play(spec);
      save(spec, result);
      events.finished(spec, result);
    } catch (error) {
      if (signal.aborted) return;
      failed.add(keyOf(spec));
      events.failed(spec, error);
    } finally {
      running.delete(keyOf(spec));
    }
  };
  while (!signal.aborted) {
    const waiting = plan.open().filter((spec) => !failed.has(keyOf(spec)) && !running.has(keyOf(spec)));
    if (waiting.length === 0 && running.size === 0) break;
    for (const spec of waiting.slice(0, jobs - running.size)) running.set(keyOf(spec), run(spec));
    await Promise.race(running.values());
  }
  await Promise.all(running.values());
  return failed.size;
}

/** Seconds until the open cells are played, if each takes `pace` times its plan and none is disturbed. */
export function secondsLeft(open: readonly CellSpec[], jobs: number, pace: number): number {
  const longest = Math.max(0, ...open.map(playSeconds));
  const all = open.reduce((sum, spec) => sum + playSeconds(spec), 0);
  return pace * Math.max(longest, all / jobs);
}

function keyOf({ scenario, arm, sidecars, seed, rateFactor }: CellSpec): string {
  return `${scenario.name} ${arm} ${sidecars} ${seed} ${rateFactor}`;
}
