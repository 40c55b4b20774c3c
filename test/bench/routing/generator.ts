import { Child } from './child.ts';
import type { OutcomeName } from './model.ts';
import type { Offered } from './trace.ts';

export interface LoadToPlay {
  readonly offered: readonly Offered[];
  /** Of the sidecars, `http://HOST:PORT`. */
  readonly origins: readonly string[];
  readonly retries: boolean;
  /** What is not answered this long after the last arrival stays unfinished. */
  readonly drainSeconds: number;
}

/** What became of an offered request; times after its planned arrival, ms. */
export interface Fate {
  readonly outcome: OutcomeName;
  readonly backend: string | undefined;
  readonly firstTokenMs: number | undefined;
  readonly endMs: number;
  readonly lateMs: number;
  readonly retried: boolean;
  /** Not sent: too many were in flight. */
  readonly overrun: boolean;
  /** Why it failed. */
  readonly failure: string | undefined;
}

export type GeneratorQuestion =
  | { readonly kind: 'prepare'; readonly load: LoadToPlay }
  /** Begins at once. */
  | { readonly kind: 'play' };

/** By index of the offered request; undefined: it was never due. */
export type GeneratorAnswer = readonly (Fate | undefined)[];

/** The load generator of a cell, in a process of its own. */
export class Generator {
  readonly #child = new Child<GeneratorQuestion, GeneratorAnswer>('generator-program.ts');

  get pid(): number {
    return this.#child.pid;
  }

  async prepare(load: LoadToPlay): Promise<void> {
    await this.#child.ask({ kind: 'prepare', load });
  }

  /** Begins at once; resolves when all is answered or given up. */
  play(): Promise<GeneratorAnswer> {
    return this.#child.ask({ kind: 'play' });
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}
