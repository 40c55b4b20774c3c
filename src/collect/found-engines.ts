import type { EngineName } from '../core/model/collect-settings.ts';
import type { GroupDecision } from '../core/model/decision.ts';
import type { Logger } from '../runtime/log.ts';

/** A group that always changes is told of no oftener. */
const PERIOD_MS = 10_000;

interface Told {
  readonly names: string;
  readonly atMs: number;
}

/** Logs which engines the backends of a group have, in one line for all of them, whenever another set of engines is there. */
export class FoundEngines {
  readonly #log: Logger;
  readonly #told = new Map<string, Told>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** To be called after each evaluation of the group. */
  note({ serverGroup, atMs, backends }: Pick<GroupDecision, 'serverGroup' | 'atMs' | 'backends'>): void {
    const engines = countEngines(backends);
    const names = [...engines.keys()].sort().join();
    const told = this.#told.get(serverGroup);
    if (names === '' || names === told?.names) return;
    if (told !== undefined && atMs - told.atMs < PERIOD_MS) return;
    this.#told.set(serverGroup, { names, atMs });
    this.#log.info({ serverGroup, engines: Object.fromEntries(engines) }, 'engines by their metrics pages');
  }

  forget(serverGroup: string): void {
    this.#told.delete(serverGroup);
  }
}

/** Those that are known, and how many backends have each. */
function countEngines(backends: GroupDecision['backends']): ReadonlyMap<EngineName, number> {
  const counts = new Map<EngineName, number>();
  for (const { engine } of backends) {
    if (engine !== undefined) counts.set(engine, (counts.get(engine) ?? 0) + 1);
  }
  return counts;
}
