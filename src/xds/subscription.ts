import type { Resource } from '../publish/snapshot-store.ts';

/** Stands for every name in a list of names. */
export const EVERY_NAME = '*';

/** All there is of one resource type at one moment. The same object as long as neither part has changed. */
export interface TypeView {
  readonly resources: ReadonlyMap<string, Resource>;
  /**
   * Names that exist without content: neither answered nor refused. What is asked for meanwhile is owed until it has
   * content. A complete set cannot tell held from gone: to a client that has a held name, none is sent.
   */
  readonly held: ReadonlySet<string>;
}

/** What one response is to tell. */
export interface Update {
  readonly resources: readonly Resource[];
  /** Names that do not exist; delta only. */
  readonly removed: readonly string[];
  /** Those of `resources` that the stream does not have in this version. */
  readonly changed: readonly string[];
}

/** By name, as sent in one response. */
export type Versions = ReadonlyMap<string, string>;

/** A response on its way to the client. */
export interface SentResponse {
  readonly nonce: number;
  readonly versions: Versions;
  readonly removed: readonly string[];
}

/** A set or a map by name. */
export interface RememberedNames {
  readonly size: number;
  keys(): Iterable<string>;
}

/**
 * What one stream asks for of one type, what it has, and what it is owed. No network and no clock: requests come in
 * through {@link receive}, and {@link next} says what to send.
 *
 * The first request, and any newly or again subscribed name, is answered at once. Everything else waits until all
 * responses are acknowledged or rejected, and then only the newest state is sent. The last rejected version is not
 * sent again unless the client asks for its name anew, or was told meanwhile that it does not exist: why it was refused,
 * such as a port that was taken, may be over by then.
 */
export interface Subscription<R> {
  /**
   * @returns the versions of the response that `request` acknowledges or rejects, with the first acknowledgement also those
   * that the client had before and was spared; undefined: it settles none.
   */
  receive(request: R): Versions | undefined;
  /** Whether the client asks for it. */
  includes(name: string): boolean;
  /** What was asked for and may have been sent, and the latest request leaves. Absent: of a complete set, of which nothing is followed by name. */
  readonly left?: readonly string[];
  /** Treats those of `names` that are subscribed as newly subscribed. */
  renew(names: readonly string[]): void;
  /** What is to be sent now; undefined: nothing. What it returns must be sent and told to {@link sent}. */
  next(view: TypeView): Update | undefined;
  /** To be called before the response is written, as its acknowledgement may arrive at once. */
  sent(response: SentResponse): void;
  /** Whether a response is neither acknowledged nor rejected, nor given up. */
  readonly waiting: boolean;
  /** The client is no longer waited for: the newest state may be sent. A late answer counts all the same. */
  giveUp(): void;
  /**
   * Ends what the client has of an earlier stream and was left, but for what belongs to a group that is held among the
   * endpoints. Absent: nothing is left.
   * @returns whether there was none.
   */
  letGo?(view: TypeView, endpoints: TypeView): boolean;
  /** The names that the client makes it remember. */
  readonly remembered: readonly RememberedNames[];
  /** The largest nonce sent so far; 0: none. */
  readonly lastNonce: number;
}
