import type { EngineSettings } from '../../../src/demo/engine.ts';
import { Child } from './child.ts';
import type { Happening } from './model.ts';

export interface BackendsSettings {
  /** The first three numbers of the addresses. At most 254 backends. */
  readonly subnet: string;
  readonly engine: EngineSettings;
  /** Of each backend. */
  readonly slowness: readonly number[];
  /** Whether answers carry ORCA load reports. */
  readonly loadReports: boolean;
  readonly reportAgeMs: number;
  readonly failedFetchShare: number;
  readonly seed: number;
}

/** What can happen to a backend that is there. */
export type BackendChange = Exclude<Happening['change'], { readonly kind: 'join' }>;

export type BackendsQuestion =
  | { readonly kind: 'start'; readonly settings: BackendsSettings }
  | { readonly kind: 'change'; readonly backend: number; readonly change: BackendChange }
  | { readonly kind: 'look' };

export interface BackendState {
  readonly id: string;
  readonly address: string;
  readonly port: number;
  /** Requests inside. */
  readonly inside: number;
}

/** All backends, by index. */
export type BackendsAnswer = readonly BackendState[];

/** The backends of a cell, in a process of their own. */
export class Backends {
  readonly all: BackendsAnswer;
  readonly #child: Child<BackendsQuestion, BackendsAnswer>;

  static async start(settings: BackendsSettings): Promise<Backends> {
    const child = new Child<BackendsQuestion, BackendsAnswer>('backends-program.ts');
    try {
      return new Backends(child, await child.ask({ kind: 'start', settings }));
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  private constructor(child: Child<BackendsQuestion, BackendsAnswer>, all: BackendsAnswer) {
    this.#child = child;
    this.all = all;
  }

  get pid(): number {
    return this.#child.pid;
  }

  async change(backend: number, change: BackendChange): Promise<void> {
    await this.#child.ask({ kind: 'change', backend, change });
  }

  /** Requests inside of each. */
  async inside(): Promise<readonly number[]> {
    return (await this.#child.ask({ kind: 'look' })).map(({ inside }) => inside);
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}

let subnets = 0;

/** A subnet of the loopback network that no other cell uses, of this process or of another one that runs now. */
export function nextSubnet(): string {
  subnets++;
  return `127.${100 + (process.pid % 100)}.${subnets % 250}`;
}
