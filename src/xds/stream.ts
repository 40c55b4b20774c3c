import { status } from '@grpc/grpc-js';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { printable } from '../runtime/text.ts';
import type { Feed } from './feed.ts';
import type { StreamKind, XdsObserver } from './observer.ts';
import type { NodeIdentity, Request, RequestError } from './request.ts';
import type { ServedType } from './served-types.ts';
import { EVERY_NAME, type Subscription, type Update, type Versions } from './subscription.ts';
import type { Variant } from './variant.ts';

/** A client whose HTTP/2 window has taken nothing of a response for this long does not read. */
export const READ_LIMIT_MS = 30_000;

const UNNAMED: NodeIdentity = { id: '', cluster: '' };

/** The way back to the client. */
export interface StreamTransport {
  /** Calls `done` when HTTP/2 has taken the message; never when the stream ends before. */
  write(bytes: Buffer, done: () => void): void;
  /** Ends the stream once what was written is out. */
  end(code: status, details: string): void;
  /** Ends the client's connection at once. */
  abort(): void;
}

/** What all streams of a server share. */
export interface StreamContext {
  readonly feed: Feed;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: XdsObserver;
  /** Called for every request of a type that is not served. */
  readonly unknownType: (typeUrl: string, node: string) => void;
  /** Called for every name that a request asks for and that does not exist. */
  readonly unknownName: (typeUrl: string, name: string, node: string) => void;
}

/**
 * One stream of one client: its subscriptions by type, and the writing, one response at a time. What cannot be
 * written yet is not queued; when its turn comes, the newest state goes out.
 */
export class XdsStream<R extends Request> {
  readonly #context: StreamContext;
  readonly #variant: Variant<R>;
  readonly #types: readonly ServedType[];
  readonly #transport: StreamTransport;
  readonly #kind: StreamKind;
  readonly #subscriptions = new Map<string, Subscription<R>>();
  readonly #subscribedAtMs = new Map<string, number>();
  /** Of which this stream has sent something that the client did not have. */
  readonly #changedTypes = new Set<string>();
  #node: NodeIdentity | undefined;
  #writingSinceMs: number | undefined;
  #ended = false;

  constructor(options: {
    readonly kind: StreamKind;
    readonly variant: Variant<R>;
    /** What the stream may ask for, in the order in which a change goes out. A single one: a single-type stream. */
    readonly types: readonly ServedType[];
    readonly context: StreamContext;
    readonly transport: StreamTransport;
  }) {
    this.#kind = options.kind;
    this.#variant = options.variant;
    this.#types = options.types;
    this.#context = options.context;
    this.#transport = options.transport;
  }

  receive(bytes: Buffer): void {
    if (this.#ended) return;
    const read = this.#variant.read(bytes, this.#node === undefined);
    if (read.kind === 'malformed') {
      this.end(status.INVALID_ARGUMENT, `the request is malformed: ${read.reason}`);
      return;
    }
    const { request } = read;
    this.#node ??= request.node ?? UNNAMED;
    const type = this.#typeOf(request.typeUrl);
    if (type === undefined) return;
    const subscription = this.#subscriptions.get(type.url) ?? this.#open(type);
    const settled = subscription.receive(request);
    if (settled !== undefined) this.#report(type, request.error, settled);
    else this.#checkNames(type, this.#variant.namesOf(request));
    this.#send();
  }

  /** There is a new snapshot. */
  push(): void {
    const since = this.#writingSinceMs;
    if (since === undefined) {
      this.#send();
    } else if (this.#context.clock.now() - since > READ_LIMIT_MS) {
      this.#context.log.warn(
        { node: this.#nodeId, stream: this.#kind, seconds: READ_LIMIT_MS / 1000 },
        'a sidecar does not read its responses: its connection is closed',
      );
      this.#transport.abort();
    }
  }

  end(code: status, details: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#transport.end(code, printable(details));
  }

  /** The client is gone: nothing is written any more. */
  close(): void {
    this.#ended = true;
    this.#subscriptions.clear();
  }

  get #nodeId(): string {
    return printable(this.#node?.id ?? '');
  }

  /** undefined: not served here; the stream has been ended where that is the answer. */
  #typeOf(typeUrl: string): ServedType | undefined {
    const [only] = this.#types;
    const single = this.#types.length === 1;
    const type = single && typeUrl === '' ? only : this.#types.find(({ url }) => url === typeUrl);
    if (type !== undefined) return type;
    if (single) this.end(status.INVALID_ARGUMENT, `this stream serves ${only?.url ?? ''}, not ${typeUrl}`);
    else if (typeUrl === '')
      this.end(status.INVALID_ARGUMENT, 'a request on an aggregated stream needs type_url');
    else this.#context.unknownType(printable(typeUrl), this.#nodeId);
    return undefined;
  }

  /** A name that does not exist may appear later; mostly it is a mistake in the client's configuration. */
  #checkNames({ url }: ServedType, names: readonly string[]): void {
    const view = this.#context.feed.view(url);
    if (view === undefined) return;
    for (const name of names) {
      if (name === '' || name === EVERY_NAME || view.resources.has(name) || view.held.has(name)) continue;
      this.#context.unknownName(url, printable(name), this.#nodeId);
    }
  }

  /**
   * What a client says to have from an earlier stream is not trusted while the parents of the type may be warming:
   * when they changed on this stream, or when it does not ask for them, which it does not do before they are warm.
   */
  #open(type: ServedType): Subscription<R> {
    const parent = this.#types.find(({ url }) => url === type.parent)?.url;
    const warming =
      parent !== undefined && (!this.#subscriptions.has(parent) || this.#changedTypes.has(parent));
    const subscription = this.#variant.subscribe(type, !warming);
    this.#subscriptions.set(type.url, subscription);
    this.#subscribedAtMs.set(type.url, this.#context.clock.now());
    return subscription;
  }

  #report(type: ServedType, error: RequestError | undefined, settled: Versions): void {
    const { observer, clock, log } = this.#context;
    const node = this.#nodeId;
    if (error === undefined) {
      const atMs = clock.now();
      const subscribedAtMs = this.#subscribedAtMs.get(type.url) ?? atMs;
      observer.acknowledged({ typeUrl: type.url, node, resources: settled, subscribedAtMs, atMs });
      return;
    }
    const message = printable(error.message, 500);
    observer.rejected({ typeUrl: type.url, node, message });
    log.warn(
      {
        node,
        cluster: printable(this.#node?.cluster ?? ''),
        type: type.url,
        names: printable([...settled.keys()].slice(0, 10).join(' ')),
        code: error.code,
        reason: message,
      },
      'a sidecar rejected a response: it keeps what it had, and this version is not sent to it again',
    );
  }

  /** Writes the first response that is due, in the order of the types; the rest when that one has been taken. */
  #send(): void {
    if (this.#writingSinceMs !== undefined || this.#ended) return;
    for (const type of this.#types) {
      const subscription = this.#subscriptions.get(type.url);
      const view = this.#context.feed.view(type.url);
      if (subscription === undefined || view === undefined) continue;
      const update = subscription.next(view);
      if (update === undefined) continue;
      this.#write(type, subscription, update);
      return;
    }
  }

  #write(type: ServedType, subscription: Subscription<R>, update: Update): void {
    const { feed, clock, observer } = this.#context;
    const response = feed.response(this.#variant.name, type.url, update, subscription.lastNonce);
    subscription.sent(response);
    this.#noteChange(type, update);
    this.#writingSinceMs = clock.now();
    observer.sent(type.url, response.bytes.byteLength);
    this.#transport.write(response.bytes, () => {
      this.#writingSinceMs = undefined;
      this.#send();
    });
  }

  /** Changed parents warm until they get their children, for which the client does not ask again. */
  #noteChange(type: ServedType, { changed }: Update): void {
    if (changed.length === 0) return;
    this.#changedTypes.add(type.url);
    for (const child of this.#types) {
      if (child.parent === type.url) this.#subscriptions.get(child.url)?.renew(changed);
    }
  }
}
