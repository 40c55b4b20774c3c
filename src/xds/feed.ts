import type { Snapshot } from '../publish/snapshot-store.ts';
import { type EncodedResponse, ResponseCache, type VariantName } from './response-cache.ts';
import type { TypeView, Update } from './subscription.ts';

const NO_NAMES: ReadonlySet<string> = new Set();

/** What all streams share: the newest snapshot, seen type by type, and the responses encoded from it. */
export class Feed {
  readonly #responses = new ResponseCache();
  #snapshot: Snapshot | undefined;
  readonly #views = new Map<string, TypeView>();

  accept(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#responses.clear();
  }

  /**
   * undefined: nothing may be said of the type, since there is no snapshot yet, or since it is not published: an empty
   * answer would delete what a client has. The same object as long as nothing of the type has changed.
   */
  view(typeUrl: string): TypeView | undefined {
    const resources = this.#snapshot?.resources.get(typeUrl);
    if (resources === undefined) return undefined;
    const held = this.#snapshot?.held.get(typeUrl) ?? NO_NAMES;
    const before = this.#views.get(typeUrl);
    if (before?.resources === resources && before.held === held) return before;
    const view = { resources, held };
    this.#views.set(typeUrl, view);
    return view;
  }

  /** @param after the last nonce of the stream and type that the response is for. */
  response(variant: VariantName, typeUrl: string, update: Update, after: number): EncodedResponse {
    return this.#responses.response(variant, typeUrl, update, after);
  }
}
