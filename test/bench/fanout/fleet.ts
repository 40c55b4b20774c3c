import { messageFrames, opening } from './frames.ts';
import { acknowledgement, firstRequest, PATHS, type Variant } from './requests.ts';
import type { ScannedResponse } from './response-scanner.ts';
import { Sidecar, WINDOW_BYTES } from './sidecar.ts';

/** A round that takes longer has failed. */
const TIMEOUT_MS = 60_000;

/**
 * Many sidecars of one server. Each acknowledges each response at once. That a response comes twice, that one tells a stream
 * another version than its neighbours, or that one is missing, is an error.
 */
export class Fleet {
  readonly #variant: Variant;
  readonly #size: number;
  readonly #port: number;
  readonly #sidecars: Sidecar[] = [];
  /** Of the push under way: when each response was complete. */
  #arrivals: number[] = [];
  #version = '';
  /** By index: the number of responses so far. */
  readonly #responses: Uint32Array;
  #pushes = 0;
  #acknowledgement: { readonly response: ScannedResponse; readonly frames: Buffer } | undefined;
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  #failure: Error | undefined;

  constructor(options: { readonly variant: Variant; readonly size: number; readonly port: number }) {
    this.#variant = options.variant;
    this.#size = options.size;
    this.#port = options.port;
    this.#responses = new Uint32Array(options.size);
  }

  /**
   * Connects all at once.
   * @returns when each sidecar had its first response, in milliseconds from the first connection.
   */
  async connect(): Promise<readonly number[]> {
    const head = opening(PATHS[this.#variant], WINDOW_BYTES);
    return this.round(() => {
      for (let index = 0; index < this.#size; index++) {
        const hello = [head, messageFrames(firstRequest(this.#variant, `sidecar-${index}`))];
        this.#sidecars.push(this.#sidecar(index, hello));
      }
    });
  }

  /**
   * Waits until each sidecar has had one more response, of one new version.
   * @param start begins what makes the server send it.
   * @returns when each sidecar had it, in milliseconds from the start, ascending.
   */
  async round(start: () => void): Promise<readonly number[]> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#pushes++;
    this.#arrivals = [];
    const before = this.#version;
    const startedAt = performance.now();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`${this.#size - this.#arrivals.length} sidecars missed push ${this.#pushes}`));
      }, TIMEOUT_MS);
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting = undefined;
      };
      this.#waiting = {
        resolve: () => {
          settle();
          resolve();
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      start();
    });
    if (this.#version === before) throw new Error(`push ${this.#pushes} has the version of the one before`);
    return this.#arrivals.map((at) => at - startedAt);
  }

  close(): void {
    for (const sidecar of this.#sidecars) sidecar.close();
  }

  /** @throws Error when a sidecar has had another number of responses than there were pushes. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    const wrong = this.#responses.findIndex((count) => count !== this.#pushes);
    if (wrong !== -1) {
      throw new Error(`sidecar ${wrong} had ${this.#responses[wrong]} responses in ${this.#pushes} pushes`);
    }
  }

  #sidecar(index: number, hello: readonly Buffer[]): Sidecar {
    const sidecar = new Sidecar({
      port: this.#port,
      hello,
      onResponse: (response) => {
        this.#take(index, sidecar, response);
      },
      onEnd: (reason) => {
        this.#fail(`sidecar ${index}: ${reason}`);
      },
    });
    return sidecar;
  }

  #take(index: number, sidecar: Sidecar, response: ScannedResponse): void {
    sidecar.send(this.#framesFor(response));
    const count = (this.#responses[index] ?? 0) + 1;
    this.#responses[index] = count;
    if (count !== this.#pushes) {
      this.#fail(`sidecar ${index} had response ${count} in push ${this.#pushes}`);
    } else if (this.#arrivals.push(performance.now()) === 1) {
      this.#version = response.version;
    } else if (response.version !== this.#version) {
      this.#fail(`sidecar ${index} was told version ${response.version}, another ${this.#version}`);
    }
    if (this.#arrivals.length === this.#size) this.#waiting?.resolve();
  }

  /** Sidecars that are told the same answer the same. */
  #framesFor(response: ScannedResponse): Buffer {
    const last = this.#acknowledgement;
    if (last?.response.nonce === response.nonce && last.response.version === response.version) {
      return last.frames;
    }
    const frames = messageFrames(acknowledgement(this.#variant, response));
    this.#acknowledgement = { response, frames };
    return frames;
  }

  #fail(message: string): void {
    this.#failure ??= new Error(message);
    this.#waiting?.reject(this.#failure);
  }
}
