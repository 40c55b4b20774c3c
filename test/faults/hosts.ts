import type { EngineSettings } from '../../src/demo/engine.ts';
import { Child } from '../bench/routing/child.ts';
import type { BackendChange } from './backend-change.ts';
import type { BackendHandle, HostHandle } from './model.ts';
import type { Place } from './place.ts';

/** In each answer: that of the request, so that a foreign answer shows. */
export const ECHO_HEADER = 'x-echo';
/** In each answer: the model that it is of. */
export const MODEL_HEADER = 'x-model';
export const MODEL = 'llama';

export type HostQuestion =
  | { readonly kind: 'start'; readonly places: readonly Place[]; readonly engine: EngineSettings }
  | { readonly kind: 'change'; readonly index: number; readonly change: BackendChange };

/** Where the backends listen. */
export type HostAnswer = readonly Place[];

/** Backends in a process of their own, which can be killed, frozen and started again. */
export class Host implements HostHandle {
  readonly backends: readonly BackendHandle[];
  readonly #engine: EngineSettings;
  readonly #firstPlaces: HostAnswer;
  #child: Child<HostQuestion, HostAnswer>;
  #places: HostAnswer;
  #frozen = false;

  static async start(addresses: readonly string[], engine: EngineSettings): Promise<Host> {
    const places = addresses.map((address) => ({ address, port: 0 }));
    const { child, answer } = await spawn(places, engine);
    return new Host(child, answer, engine);
  }

  private constructor(child: Child<HostQuestion, HostAnswer>, places: HostAnswer, engine: EngineSettings) {
    this.#child = child;
    this.#firstPlaces = places;
    this.#places = places;
    this.#engine = engine;
    this.backends = places.map(({ address, port }, index) => ({
      id: `${address}:${port}`,
      change: async (change) => {
        await this.#child.ask({ kind: 'change', index, change });
      },
    }));
  }

  /** Where the backends listen now. */
  get places(): readonly Place[] {
    return this.#places;
  }

  async kill(): Promise<void> {
    process.kill(this.#child.pid, 'SIGKILL');
    await this.#child.stop();
  }

  async restart({ otherPorts = false }: { readonly otherPorts?: boolean } = {}): Promise<void> {
    const first = this.#firstPlaces;
    const places = otherPorts ? first.map(({ address }) => ({ address, port: 0 })) : first;
    const { child, answer } = await spawn(places, this.#engine);
    this.#child = child;
    this.#places = answer;
  }

  freeze(): void {
    process.kill(this.#child.pid, 'SIGSTOP');
    this.#frozen = true;
  }

  thaw(): void {
    process.kill(this.#child.pid, 'SIGCONT');
    this.#frozen = false;
  }

  async stop(): Promise<void> {
    if (this.#frozen) this.thaw();
    await this.#child.stop();
  }
}

async function spawn(places: readonly Place[], engine: EngineSettings) {
  const child = new Child<HostQuestion, HostAnswer>('../../faults/backends-program.ts');
  try {
    return { child, answer: await child.ask({ kind: 'start', places, engine }) };
  } catch (error) {
    await child.stop();
    throw error;
  }
}
