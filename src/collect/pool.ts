import type { Backend } from '../core/model/backend.ts';
import type { ScorerName } from '../core/model/balance-settings.ts';
import type { CollectRun } from '../core/model/collection.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { CollectLog } from './collect-log.ts';
import { Collector } from './collector.ts';

interface Entry {
  readonly collector: Collector;
  groups: readonly ServerGroup[];
}

/**
 * One collector for each distinct way of collecting. Groups that collect in the same way and need the same metrics
 * share it, so that a backend in two of them is polled once.
 */
export class CollectorPool {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #collectLog: CollectLog;
  readonly #onRun: (groups: readonly string[], run: CollectRun) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: {
    readonly clock: Clock;
    readonly log: Logger;
    /** Called after each run of a collector with the names of the groups that it serves. */
    readonly onRun: (groups: readonly string[], run: CollectRun) => void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#collectLog = new CollectLog(options);
    this.#onRun = options.onRun;
  }

  /** Takes the groups of a configuration. A collector that is still needed keeps its phase and its connections. */
  configure(groups: readonly ServerGroup[]): void {
    const wanted = new Map<string, ServerGroup[]>();
    for (const group of groups) {
      if (group.loadAware === undefined) continue;
      const key = keyOf(group);
      wanted.set(key, [...(wanted.get(key) ?? []), group]);
    }
    for (const [key, entry] of this.#entries) {
      if (wanted.has(key)) continue;
      this.#entries.delete(key);
      this.#end(entry.collector);
    }
    for (const [key, sharing] of wanted) this.#ensure(key, sharing);
  }

  /** Resolves when the runs in flight are over and all connections are closed. */
  async stop(): Promise<void> {
    for (const { collector } of this.#entries.values()) this.#end(collector);
    this.#entries.clear();
    await Promise.all(this.#stopping);
  }

  #ensure(key: string, groups: readonly ServerGroup[]): void {
    const existing = this.#entries.get(key);
    if (existing !== undefined) {
      const changed = !areSame(existing.groups, groups);
      existing.groups = groups;
      existing.collector.setBackends(backendsOf(groups));
      // nobody waits a whole interval for what the operator changed
      if (changed) existing.collector.hasten();
      return;
    }
    const [first] = groups;
    if (first?.loadAware === undefined) return;
    const collector = new Collector({
      settings: first.loadAware.collect,
      requiredScorers: requiredScorers(first),
      clock: this.#clock,
      log: this.#log,
      collectLog: this.#collectLog,
    });
    const entry: Entry = { collector, groups };
    this.#entries.set(key, entry);
    collector.setBackends(backendsOf(groups));
    collector.start((run) => {
      this.#onRun(
        entry.groups.map(({ name }) => name),
        run,
      );
    });
  }

  #end(collector: Collector): void {
    const stopped = collector.stop().finally(() => {
      this.#stopping.delete(stopped);
    });
    this.#stopping.add(stopped);
  }
}

function areSame(before: readonly ServerGroup[], groups: readonly ServerGroup[]): boolean {
  if (before.length !== groups.length) return false;
  return groups.every((group, index) => {
    const other = before[index];
    return group === other || JSON.stringify(group) === JSON.stringify(other);
  });
}

function keyOf(group: ServerGroup): string {
  return JSON.stringify([group.loadAware?.collect, requiredScorers(group)]);
}

/** The scorers that carry weight, sorted: a sample without one of their metrics is none. */
function requiredScorers(group: ServerGroup | undefined): readonly ScorerName[] {
  const scorers = group?.loadAware?.balance.scorers ?? [];
  return scorers
    .filter((scorer) => scorer.weight > 0)
    .map((scorer) => scorer.name)
    .sort();
}

/** Of all the groups, none twice; where one of them knows where its page is, that counts. */
function backendsOf(groups: readonly ServerGroup[]): readonly Backend[] {
  const backends = new Map<string, Backend>();
  for (const backend of groups.flatMap((group) => group.servers)) {
    const other = backends.get(backend.id);
    if (other?.metrics === undefined || backend.metrics !== undefined) backends.set(backend.id, backend);
  }
  return [...backends.values()];
}
