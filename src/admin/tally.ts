import { Counter, type Registry } from 'prom-client';

/**
 * A counter with the label `type` that takes in tens of thousands of events at once: labels are looked at when the
 * metrics are read, not at each event.
 */
export class Tally {
  readonly #counts = new Map<string, number>();

  constructor(options: { readonly name: string; readonly help: string; readonly registry: Registry }) {
    const counts = this.#counts;
    new Counter({
      name: options.name,
      help: options.help,
      labelNames: ['type'],
      registers: [options.registry],
      collect() {
        this.reset();
        for (const [typeUrl, count] of counts) this.inc({ type: shortType(typeUrl) }, count);
      },
    });
  }

  add(typeUrl: string, amount = 1): void {
    this.#counts.set(typeUrl, (this.#counts.get(typeUrl) ?? 0) + amount);
  }
}

/** `ClusterLoadAssignment` of `type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment`. */
export function shortType(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
}
