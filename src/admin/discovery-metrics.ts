import { Counter, Gauge, type Registry } from 'prom-client';
import type { DiscoveryStatus } from '../core/model/discovery.ts';

/** Gives where each group stands whose backends are found, by its name. */
export type DiscoveryStatuses = () => ReadonlyMap<string, DiscoveryStatus>;

type Read = (of: DiscoveryStatus, nowMs: number) => number | undefined;

const GAUGES: readonly (readonly [name: string, help: string, read: Read])[] = [
  [
    'failing',
    "1: the source of the group's backends cannot be read, or its list not be used; those known last stay.",
    ({ failure }) => Number(failure !== undefined),
  ],
  [
    'waiting',
    '1: no list of backends is known yet, and nothing is published for the group.',
    ({ waiting }) => Number(waiting !== undefined),
  ],
  [
    'list_age_seconds',
    'Since the source last told a complete list. Some tell one only when it is another.',
    ({ list }, nowMs) => list && (nowMs - list.atMs) / 1000,
  ],
  ['listed_backends', 'Backends of the list that the source told last.', ({ list }) => list?.backends],
  [
    'doubted_backends',
    'Backends that the source does not tell any more, which is not believed yet.',
    ({ doubted }) => doubted.length,
  ],
  ['draining_backends', 'Backends that are published as DRAINING.', ({ draining }) => draining.length],
  [
    'left_out_backends',
    'What the source has and cannot be used, at most 100: no IP address, no such port.',
    ({ leftOut }) => leftOut.length,
  ],
];

/** The metrics of where backends come from, of the groups that have a Discovery. */
export class DiscoveryMetrics {
  readonly #registry: Registry;
  readonly #failures: Counter<'server_group'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#failures = new Counter({
      name: 'plimsoll_discovery_failures_total',
      help: "Attempts to read the source of the group's backends that failed.",
      labelNames: ['server_group'],
      registers: [registry],
    });
  }

  /** @param now the clock of the statuses, in milliseconds */
  show(statuses: DiscoveryStatuses, now: () => number): void {
    for (const [name, help, read] of GAUGES) this.#define(name, help, read, statuses, now);
  }

  /** An attempt to read the source of this group failed. */
  failed(serverGroup: string): void {
    this.#failures.inc({ server_group: serverGroup });
  }

  /** Ends the series of a group that is gone. */
  forget(serverGroup: string): void {
    this.#failures.remove({ server_group: serverGroup });
  }

  #define(name: string, help: string, read: Read, statuses: DiscoveryStatuses, now: () => number): void {
    new Gauge({
      name: `plimsoll_discovery_${name}`,
      help,
      labelNames: ['server_group'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [serverGroup, status] of statuses()) {
          const value = read(status, now());
          if (value !== undefined) this.set({ server_group: serverGroup }, value);
        }
      },
    });
  }
}
