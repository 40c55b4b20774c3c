import type { Snapshot } from '../publish/snapshot-store.ts';
import { type EncodedResponse, ResponseCache, type VariantName } from './response-cache.ts';
import type { TypeView, Update } from './subscription.ts';

const NO_NAMES: ReadonlySet<string> = new Set();

/** What clients of one zone may ask for, and what it was made from. */
interface ZoneView {
  readonly everybody: TypeView;
  readonly own: TypeView['resources'];
  readonly view: TypeView;
}

/** What all streams share: the newest snapshot, seen type by type, and the responses encoded from it. */
export class Feed {
  readonly #responses = new ResponseCache();
  #snapshot: Snapshot | undefined;
  readonly #views = new Map<string, TypeView>();
  readonly #zoneViews = new Map<string, Map<string, ZoneView>>();

  accept(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#responses.clear();
    for (const zone of this.#zoneViews.keys()) if (!snapshot.zones?.has(zone)) this.#zoneViews.delete(zone);
  }

  /**
   * undefined: nothing may be said of the type, since there is no snapshot yet, or since it is not published: an empty
   * answer would delete what a client has. The same object as long as nothing of the type has changed.
   * @param zone where the client says that it is; empty: it does not.
   */
  view(typeUrl: string, zone = ''): TypeView | undefined {
    const everybody = this.#everybodysView(typeUrl);
    const own = this.#snapshot?.zones?.get(zone)?.get(typeUrl);
    return everybody === undefined || own === undefined
      ? everybody
      : this.#zoneView(typeUrl, zone, everybody, own);
  }

  #zoneView(typeUrl: string, zone: string, everybody: TypeView, own: ZoneView['own']): TypeView {
    const views = this.#zoneViews.get(zone) ?? new Map<string, ZoneView>();
    this.#zoneViews.set(zone, views);
    const before = views.get(typeUrl);
    if (before?.everybody === everybody && before.own === own) return before.view;
    const view = { resources: new Map([...everybody.resources, ...own]), held: everybody.held };
    views.set(typeUrl, { everybody, own, view });
    return view;
  }

  #everybodysView(typeUrl: string): TypeView | undefined {
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
