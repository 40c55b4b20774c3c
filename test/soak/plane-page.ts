import type { BackendLook, HeldLook, Look } from '../faults/model.ts';

const SERIES = /^(plimsoll_\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="([^"]*)"/g;

interface Series {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

/** The metrics page of the control plane, read once: a fleet of hundreds has thousands of series. */
export class PlanePage {
  readonly #text: string;
  readonly #series = new Map<string, Series[]>();

  constructor(text: string) {
    this.#text = text;
    for (const line of text.split('\n')) {
      const match = SERIES.exec(line);
      if (match === null) continue;
      const [, name = '', inside = '', value] = match;
      const labels = new Map([...inside.matchAll(LABEL)].map(([, label = '', of = '']) => [label, of]));
      const all = this.#series.get(name) ?? [];
      all.push({ labels, value: Number(value) });
      this.#series.set(name, all);
    }
  }

  /** Sum of the series of that name; NaN: there is none. */
  value(name: string): number {
    const all = this.#series.get(name);
    return all === undefined ? Number.NaN : all.reduce((sum, { value }) => sum + value, 0);
  }

  /** Of a cumulative histogram without labels: the count at most `le`, in the order of `le`. */
  buckets(name: string): readonly { readonly le: number; readonly count: number }[] {
    return (this.#series.get(`${name}_bucket`) ?? []).map(({ labels, value }) => ({
      le: labels.get('le') === '+Inf' ? Infinity : Number(labels.get('le')),
      count: value,
    }));
  }

  /** `balanced`, `kept` or `configured`; empty: it says nothing. */
  get mode(): string {
    const all = this.#series.get('plimsoll_server_group_mode') ?? [];
    return all.find(({ value }) => value === 1)?.labels.get('mode') ?? '';
  }

  /** What a fault's statement may ask for. */
  look(at: number, targets: readonly string[], sidecars: readonly (readonly HeldLook[])[]): Look {
    const orZero = (name: string): number => this.value(name) || 0;
    return {
      at,
      sidecars,
      plane: {
        mode: this.mode,
        shed: orZero('plimsoll_server_group_shed_ratio'),
        warnings: orZero('plimsoll_server_group_warnings'),
        pushes: orZero('plimsoll_server_group_pushes_total'),
        evaluations: orZero('plimsoll_server_group_evaluations_total'),
        streams: orZero('plimsoll_xds_streams'),
        sidecarsBehind: this.value('plimsoll_sidecars_behind'),
        sidecarsRefusing: this.value('plimsoll_sidecars_refusing'),
        reloaded: this.value('plimsoll_config_last_reload_successful'),
        backends: this.#backends(targets),
        page: this.#text,
      },
    };
  }

  #backends(targets: readonly string[]): readonly BackendLook[] {
    const weights = this.#byBackend('weight');
    const of = {
      share: this.#byBackend('share_ratio'),
      frozen: this.#byBackend('frozen'),
      asleep: this.#byBackend('asleep'),
      missed: this.#byBackend('missed_evaluations'),
      capacity: this.#byBackend('capacity_ratio'),
    };
    const health = new Map(
      (this.#series.get('plimsoll_backend_health') ?? [])
        .filter(({ value }) => value === 1)
        .map(({ labels }) => [labels.get('backend') ?? '', labels.get('state') ?? '']),
    );
    return [...weights].map(([id, weight]) => ({
      id,
      weight,
      share: of.share.get(id) ?? 0,
      health: health.get(id) ?? '',
      frozen: of.frozen.get(id) === 1,
      asleep: of.asleep.get(id) === 1,
      missed: of.missed.get(id) ?? 0,
      capacity: of.capacity.get(id) ?? Number.NaN,
      target: targets.includes(id),
    }));
  }

  #byBackend(name: string): ReadonlyMap<string, number> {
    const all = this.#series.get(`plimsoll_backend_${name}`) ?? [];
    return new Map(all.map(({ labels, value }) => [labels.get('backend') ?? '', value]));
  }
}
