import type { SentResponse, Versions } from './subscription.ts';

/** A client that asks for new names without end and acknowledges nothing: beyond this the oldest are forgotten. */
const LIMIT = 16;

/** The responses that a client has neither acknowledged nor rejected, oldest first. */
export class Unsettled {
  #responses: { readonly nonce: number; readonly versions: Versions }[] = [];
  #lastNonce = 0;
  #givenUpTo = 0;

  /** Whether the client is waited for. */
  get any(): boolean {
    const last = this.#responses.at(-1);
    return last !== undefined && last.nonce > this.#givenUpTo;
  }

  /** Whether a response is unanswered, waited for or not. */
  get some(): boolean {
    return this.#responses.length > 0;
  }

  get lastNonce(): number {
    return this.#lastNonce;
  }

  /** What is in the responses, by name. */
  *versions(): Iterable<readonly [name: string, version: string]> {
    for (const { versions } of this.#responses) yield* versions;
  }

  add({ nonce, versions }: SentResponse): void {
    this.#lastNonce = nonce;
    this.#responses.push({ nonce, versions });
    if (this.#responses.length > LIMIT) this.#responses.shift();
  }

  /** Waits for none of the responses so far; they may still be settled. */
  giveUp(): void {
    this.#givenUpTo = this.#lastNonce;
  }

  /**
   * The client answered the response with this nonce, and with it has had all earlier ones.
   * @returns its versions; undefined when no such response is open: a stale or invented nonce settles nothing.
   */
  settle(nonce: string): Versions | undefined {
    const index = this.#responses.findIndex((response) => String(response.nonce) === nonce);
    const versions = this.#responses[index]?.versions;
    this.#responses.splice(0, index + 1);
    return versions;
  }
}
