import { Counter, type Registry } from 'prom-client';
import type { BackendId } from '../core/model/backend.ts';
import type { CollectRun } from '../core/model/collection.ts';
import type { GroupDecision } from '../core/model/decision.ts';

interface BackendTally {
  collections: number;
  seconds: number;
  bytes: number;
  readonly failures: Map<string, number>;
}

interface GroupTally {
  evaluations: number;
  readonly pushes: Map<string, number>;
  readonly backends: Map<BackendId, BackendTally>;
}

/** Counts what happened to each group and backend, and forgets those that are gone. */
export class DecisionCounters {
  readonly #groups = new Map<string, GroupTally>();

  constructor(registry: Registry) {
    this.#define(
      registry,
      'backend_collections_total',
      'Collections that ended.',
      ['backend'],
      (add, tally) => {
        for (const [backend, { collections }] of tally.backends) add({ backend }, collections);
      },
    );
    this.#define(
      registry,
      'backend_collect_seconds_total',
      'Time that collections took.',
      ['backend'],
      (add, tally) => {
        for (const [backend, { seconds }] of tally.backends) add({ backend }, seconds);
      },
    );
    this.#define(
      registry,
      'backend_collect_bytes_total',
      'Bytes of the metrics pages that were read.',
      ['backend'],
      (add, tally) => {
        for (const [backend, { bytes }] of tally.backends) add({ backend }, bytes);
      },
    );
    this.#define(
      registry,
      'backend_collect_failures_total',
      'Collections that ended without a sample, by reason.',
      ['backend', 'reason'],
      (add, tally) => {
        for (const [backend, { failures }] of tally.backends) {
          for (const [reason, count] of failures) add({ backend, reason }, count);
        }
      },
    );
    this.#define(registry, 'server_group_evaluations_total', 'Evaluations.', [], (add, tally) => {
      add({}, tally.evaluations);
    });
    this.#define(
      registry,
      'server_group_pushes_total',
      'New assignments published, by what made them due.',
      ['reason'],
      (add, tally) => {
        for (const [reason, count] of tally.pushes) add({ reason }, count);
      },
    );
  }

  evaluated(decision: GroupDecision, run: CollectRun | undefined): void {
    const tally = this.#tally(decision.serverGroup);
    tally.evaluations++;
    const ids = new Set(decision.backends.map(({ backend }) => backend.id));
    for (const id of tally.backends.keys()) if (!ids.has(id)) tally.backends.delete(id);
    if (run === undefined) return;
    for (const id of ids) {
      const outcome = run.outcomes.get(id);
      if (outcome === undefined) continue;
      const of = tally.backends.get(id) ?? {
        collections: 0,
        seconds: 0,
        bytes: 0,
        failures: new Map<string, number>(),
      };
      tally.backends.set(id, of);
      of.collections++;
      of.seconds += outcome.durationMs / 1000;
      if (outcome.kind === 'failure') increment(of.failures, outcome.failure.kind);
      else of.bytes += outcome.bytes;
    }
  }

  published(decision: GroupDecision): void {
    increment(this.#tally(decision.serverGroup).pushes, decision.publish ?? 'first');
  }

  forget(serverGroup: string): void {
    this.#groups.delete(serverGroup);
  }

  #tally(serverGroup: string): GroupTally {
    let tally = this.#groups.get(serverGroup);
    if (tally === undefined) {
      tally = { evaluations: 0, pushes: new Map(), backends: new Map() };
      this.#groups.set(serverGroup, tally);
    }
    return tally;
  }

  #define(
    registry: Registry,
    name: string,
    help: string,
    labels: readonly string[],
    read: (add: (labels: Record<string, string>, count: number) => void, tally: GroupTally) => void,
  ): void {
    const groups = this.#groups;
    new Counter({
      name: `plimsoll_${name}`,
      help,
      labelNames: ['server_group', ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const [server_group, tally] of groups) {
          read((values, count) => {
            this.inc({ server_group, ...values }, count);
          }, tally);
        }
      },
    });
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
