import { Counter, Histogram, type Registry } from 'prom-client';

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 5, 10];

/** The parts of the way, in their order. */
const PHASES = ['collect', 'publish', 'sidecars'] as const;
const REASONS = ['left', 'rejected', 'timeout'] as const;

/** How long weights take to the sidecars. */
export class DelayMetrics {
  readonly #gather: Histogram<'server_group'>;
  readonly #first: Histogram<'server_group'>;
  readonly #last: Histogram<'server_group'>;
  readonly #phases: Histogram<'server_group' | 'phase'>;
  readonly #unapplied: Counter<'server_group' | 'reason'>;

  constructor(registry: Registry) {
    const shared = { buckets: SECONDS_BUCKETS, registers: [registry] };
    this.#gather = new Histogram({
      ...shared,
      name: 'plimsoll_server_group_gather_seconds',
      help: 'From the start of a collection until the answers of the backends are evaluated, of every collection.',
      labelNames: ['server_group'],
    });
    this.#first = new Histogram({
      ...shared,
      name: 'plimsoll_server_group_ack_seconds',
      help: 'From the start of a collection to the first acknowledgement of what it changed.',
      labelNames: ['server_group'],
    });
    this.#last = new Histogram({
      ...shared,
      name: 'plimsoll_server_group_apply_delay_seconds',
      help: 'From the start of a collection until the last stream has acknowledged what it changed.',
      labelNames: ['server_group'],
    });
    this.#phases = new Histogram({
      ...shared,
      name: 'plimsoll_server_group_apply_phase_seconds',
      help: 'The parts of plimsoll_server_group_apply_delay_seconds: collect, publish, sidecars.',
      labelNames: ['server_group', 'phase'],
    });
    this.#unapplied = new Counter({
      name: 'plimsoll_server_group_unapplied_total',
      help: 'Streams that did not take a new assignment and are no longer waited for, by reason.',
      labelNames: ['server_group', 'reason'],
      registers: [registry],
    });
  }

  gathered(serverGroup: string, seconds: number): void {
    this.#gather.observe({ server_group: serverGroup }, seconds);
  }

  acknowledgedAfter(serverGroup: string, seconds: number): void {
    this.#first.observe({ server_group: serverGroup }, seconds);
  }

  /** @param seconds of each part; together they are the whole. */
  applied(serverGroup: string, seconds: Readonly<Record<(typeof PHASES)[number], number>>): void {
    let sum = 0;
    for (const phase of PHASES) {
      this.#phases.observe({ server_group: serverGroup, phase }, seconds[phase]);
      sum += seconds[phase];
    }
    this.#last.observe({ server_group: serverGroup }, sum);
  }

  unapplied(serverGroup: string, reason: (typeof REASONS)[number], streams: number): void {
    this.#unapplied.inc({ server_group: serverGroup, reason }, streams);
  }

  /** Ends the series of a group that is gone. */
  forget(serverGroup: string): void {
    const labels = { server_group: serverGroup };
    this.#gather.remove(labels);
    this.#first.remove(labels);
    this.#last.remove(labels);
    for (const phase of PHASES) this.#phases.remove({ ...labels, phase });
    for (const reason of REASONS) this.#unapplied.remove({ ...labels, reason });
  }
}
