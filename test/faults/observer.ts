import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { readPlaneMetrics } from '../../src/demo/plane-metrics.ts';
import type { BackendLook, HeldLook, Look, PlaneLook } from './model.ts';

/** A look takes as long as its slowest part, at most this. */
const PATIENCE_MS = 1_500;

export interface Observed {
  /** `HOST:PORT` */
  readonly plane: string;
  readonly sidecars: readonly string[];
  /** Of the server group. */
  readonly group: () => string;
}

/** Requests that a sidecar has sent to each backend, by its id. */
export type Sent = ReadonlyMap<string, number>;

/** Looks at the control plane and at what sidecars hold. */
export class Observer {
  readonly #observed: Observed;
  readonly #agent = new Agent({ connections: 2 });
  /** Of all sidecars, at the last look. */
  sent: Sent = new Map();
  /** What each sidecar said last: where its page does not come in time, that stands. */
  #clusters: readonly string[] = [];

  constructor(observed: Observed) {
    this.#observed = observed;
  }

  /** @param at seconds after the fault came */
  async look(at: number, targets: readonly string[]): Promise<Look> {
    const { plane, sidecars } = this.#observed;
    const [page, ...clusters] = await Promise.all([
      this.#get(`http://${plane}/metrics`),
      ...sidecars.map((admin) => this.#get(`http://${admin}/clusters`)),
    ]);
    this.#clusters = clusters.map((text, index) => text ?? this.#clusters[index] ?? '');
    this.sent = sum(this.#clusters.map((text) => valuesOf(text, this.#observed.group(), 'rq_total')));
    return {
      at,
      plane: page === undefined ? undefined : planeLook(page, this.#observed.group(), targets),
      sidecars: this.#clusters.map((text) => heldLooks(text, this.#observed.group(), targets)),
    };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #get(url: string): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const { statusCode, body } = await request(url, { dispatcher: this.#agent, signal });
      const text = await body.text();
      return statusCode === 200 ? text : undefined;
    } catch {
      return undefined;
    }
  }
}

export interface Resources {
  /** Bytes. */
  readonly memory: number;
  /** Open files. */
  readonly handles: number;
}

/** Of a process; undefined: it is gone. Linux only. */
export function resourcesOf(pid: number): Resources | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return { memory: Number(kilobytes) * 1024, handles: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

/** Sum of the series of a metric whose labels match; NaN: there is none. */
export function metric(page: string, name: string, labels = ''): number {
  let total = Number.NaN;
  for (const line of page.split('\n')) {
    if (!line.startsWith(name) || !/[{ ]/.test(line[name.length] ?? '')) continue;
    if (labels !== '' && !line.includes(labels)) continue;
    total = (Number.isNaN(total) ? 0 : total) + Number(line.slice(line.lastIndexOf(' ') + 1));
  }
  return total;
}

function planeLook(page: string, group: string, targets: readonly string[]): PlaneLook {
  const read = readPlaneMetrics(page, group);
  const of = (name: string): number => metric(page, name, `server_group="${group}"`);
  const backends = [...read.backends].map(([id, { weight = 0, share = 0, health = '' }]): BackendLook => {
    const own = (name: string): number => metric(page, name, `backend="${id}"`);
    return {
      id,
      weight,
      share,
      health,
      frozen: own('plimsoll_backend_frozen') === 1,
      asleep: own('plimsoll_backend_asleep') === 1,
      missed: own('plimsoll_backend_missed_evaluations'),
      capacity: own('plimsoll_backend_capacity_ratio'),
      target: targets.includes(id),
    };
  });
  return {
    mode: read.mode ?? '',
    shed: read.shed ?? 0,
    warnings: of('plimsoll_server_group_warnings'),
    pushes: orZero(of('plimsoll_server_group_pushes_total')),
    evaluations: orZero(of('plimsoll_server_group_evaluations_total')),
    streams: orZero(metric(page, 'plimsoll_xds_streams')),
    sidecarsBehind: metric(page, 'plimsoll_sidecars_behind'),
    sidecarsRefusing: metric(page, 'plimsoll_sidecars_refusing'),
    reloaded: metric(page, 'plimsoll_config_last_reload_successful'),
    backends,
    page,
  };
}

function orZero(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

function heldLooks(text: string, group: string, targets: readonly string[]): readonly HeldLook[] {
  const weights = valuesOf(text, group, 'weight');
  const flags = new Map(linesOf(text, group, 'health_flags'));
  return [...weights].map(([id, weight]) => ({
    id,
    weight,
    health: healthOf(flags.get(id) ?? ''),
    target: targets.includes(id),
  }));
}

function healthOf(flags: string): string {
  if (flags.includes('failed_eds_health')) return 'UNHEALTHY';
  if (flags.includes('eds_status_draining')) return 'DRAINING';
  if (flags.includes('failed_active_hc')) return 'FAILED';
  return flags.includes('failed_outlier_check') ? 'EJECTED' : 'HEALTHY';
}

function valuesOf(text: string, group: string, name: string): Sent {
  return new Map(linesOf(text, group, name).map(([id, value]) => [id, Number(value)]));
}

/** Of `CLUSTER::ADDRESS::NAME::VALUE`. */
function linesOf(text: string, group: string, name: string): readonly (readonly [string, string])[] {
  return text.split('\n').flatMap((line) => {
    const [cluster, id, of, value] = line.split('::');
    if (cluster !== group || of !== name || id === undefined || value === undefined) return [];
    return [[id, value] as const];
  });
}

function sum(all: readonly Sent[]): Sent {
  const total = new Map<string, number>();
  for (const one of all) for (const [id, count] of one) total.set(id, (total.get(id) ?? 0) + count);
  return total;
}
