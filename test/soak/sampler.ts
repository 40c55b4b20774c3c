import { BucketSum } from './bucket-sum.ts';
import type { SoakPlane } from './soak-plane.ts';
import type { Point } from './trend.ts';

/** How the control plane was at one moment. Bytes; null: it did not say. */
export interface Sample {
  /** Since the beginning of the soak. */
  readonly seconds: number;
  /** Which process of the control plane, from 1. */
  readonly generation: number;
  /** Resident memory as the page says it, before the collection of garbage. */
  readonly rss: number | null;
  /** In use on the heap, before the collection of garbage. */
  readonly heap: number | null;
  /** In use on the heap after all garbage was collected. */
  readonly heapAfter: number | null;
  /** Of it code that V8 has made. */
  readonly codeAfter: number | null;
  /** Open files, sockets included. */
  readonly files: number | null;
  /** New assignments published by this process. */
  readonly pushes: number | null;
  readonly mode: string;
  readonly streams: number | null;
  /** Requests that have ended, and those that failed by a fault and by us, since the beginning. */
  readonly requests: number;
  readonly own: number;
  readonly ours: number;
  /** The fault that goes on; empty: none. */
  readonly fault: string;
}

const LOOP = 'plimsoll_event_loop_delay_seconds';

/** Resident memory of the control plane at one moment, in bytes. */
export interface Resident extends Point {
  /** Which process of the control plane, from 1. */
  readonly generation: number;
}

export interface SamplerOptions {
  readonly plane: SoakPlane;
  /** Seconds since the beginning. */
  readonly now: () => number;
  readonly counts: () => Pick<Sample, 'requests' | 'own' | 'ours' | 'fault'>;
}

/** Looks at the control plane from time to time. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly resident: Resident[] = [];
  /** Delays of the event loop while no fault went on, and while one did. */
  readonly delays = { calm: new BucketSum(), faulty: new BucketSum() };
  readonly #options: SamplerOptions;
  #faultBefore = '';

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** Takes the resident memory alone. */
  glance(): void {
    const { plane, now } = this.#options;
    const value = plane.residentBytes();
    if (value !== undefined) this.resident.push({ seconds: now(), generation: plane.generation, value });
  }

  /** Takes one sample. What collecting garbage costs is in no figure of the event loop. */
  async look(): Promise<Sample> {
    const { plane, now, counts } = this.#options;
    const seconds = now();
    const { generation } = plane;
    const before = await plane.page();
    const { fault, ...requests } = counts();
    const calm = fault === '' && this.#faultBefore === '';
    this.#faultBefore = fault;
    if (before !== undefined) this.delays[calm ? 'calm' : 'faulty'].add(generation, before.buckets(LOOP));
    const left = before === undefined ? undefined : await plane.heapAfterCollection();
    const after = await plane.page();
    const same = plane.generation === generation;
    if (after !== undefined && same) {
      for (const sum of Object.values(this.delays)) sum.skip(generation, after.buckets(LOOP));
    }
    const of = (name: string): number | null => {
      const value = before?.value(`plimsoll_${name}`);
      return value === undefined || Number.isNaN(value) ? null : value;
    };
    const sample: Sample = {
      seconds,
      generation,
      rss: of('process_resident_memory_bytes'),
      heap: of('nodejs_heap_size_used_bytes'),
      heapAfter: same ? (left?.heap ?? null) : null,
      codeAfter: same ? (left?.code ?? null) : null,
      files: of('process_open_fds'),
      pushes: of('server_group_pushes_total'),
      mode: before?.mode ?? '',
      streams: of('xds_streams'),
      ...requests,
      fault,
    };
    this.samples.push(sample);
    return sample;
  }
}
