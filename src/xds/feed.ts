import type { Resource, Snapshot } from '../publish/snapshot-store.ts';
import { type EncodedResponse, ResponseCache, type VariantName } from './response-cache.ts';
import type { TypeView, Update } from './subscription.ts';

const NO_RESOURCES: ReadonlyMap<string, Resource> = new Map();
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

  /** undefined: there is no snapshot yet. The same object as long as nothing of the type has changed. */
  view(typeUrl: string): TypeView | undefined {
    if (this.#snapshot === undefined) return undefined;
    const resources = this.#snapshot.resources.get(typeUrl) ?? NO_RESOURCES;
    const held = this.#snapshot.held.get(typeUrl) ?? NO_NAMES;
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
