import { status } from '@grpc/grpc-js';
import { printable } from '../runtime/text.ts';
import type { Feed } from './feed.ts';
import type { Seat } from './feeds.ts';
import { PREFIX_BYTES } from './grpc-message.ts';
import type { Identity } from './identity.ts';
import type { LimitName, Refusal } from './refusal.ts';
import type { NodeIdentity, Request } from './request.ts';
import { checkCount, checkLengths, checkNames } from './request-limits.ts';
import type { RequestMeter } from './request-meter.ts';
import { ENDPOINT_TYPE, type ServedType } from './served-types.ts';
import { type StreamContext, type StreamTransport, UNNAMED } from './stream-context.ts';
import { StreamReports } from './stream-reports.ts';
import type { Subscription, TypeView, Update, Versions } from './subscription.ts';
import type { Variant } from './variant.ts';

/** What a stream has of one type. */
interface Channel<R extends Request> {
  readonly type: ServedType;
  readonly subscription: Subscription<R>;
  readonly subscribedAtMs: number;
  /** Since when a response is unanswered. */
  unansweredSinceMs: number | undefined;
  /** Something was sent that the client did not have. */
  changed: boolean;
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
  readonly #kind: string;
  readonly #identities: readonly Identity[];
  readonly #meter: RequestMeter;
  readonly #reports: StreamReports;
  readonly #openedAtMs: number;
  /** In the order of the types. A list: there are few, and a push looks at those of thousands of streams. */
  #channels: readonly Channel<R>[] = [];
  #node: NodeIdentity | undefined;
  #seat: Seat | undefined;
  /** When the client was last left something, but clusters. */
  #leftAtMs = Number.NEGATIVE_INFINITY;
  #writingSinceMs: number | undefined;
  #endedAtMs: number | undefined;

  constructor(options: {
    /** Which service, as in {@link XdsObserver}. */
    readonly kind: string;
    /** Printable: who is counted and named when a limit is reached. */
    readonly client: string;
    /** `address:port` of the other end of its connection. */
    readonly peer: string;
    /** Who the client is by its certificate. */
    readonly identities: readonly Identity[];
    readonly variant: Variant<R>;
    /** What the stream may ask for, in the order in which a change goes out. A single one: a single-type stream. */
    readonly types: readonly ServedType[];
    readonly meter: RequestMeter;
    readonly context: StreamContext;
    readonly transport: StreamTransport;
  }) {
    this.#kind = options.kind;
    this.#identities = options.identities;
    this.#meter = options.meter;
    this.#reports = new StreamReports(options.context, options.client, options.peer, this);
    this.#openedAtMs = options.context.clock.now();
    this.#variant = options.variant;
    this.#types = options.types;
    this.#context = options.context;
    this.#transport = options.transport;
  }

  /** To be called first: a client that may see nothing is refused before it says a word. */
  open(): void {
    if (!this.#context.admits(this.#kind, this.#identities)) this.#deny();
  }

  receive(bytes: Buffer): void {
    if (this.ended) return;
    if (this.#refuses(this.#meter.take(bytes.length, this.#context.clock.now()))) return;
    const read = this.#variant.read(bytes, this.#node === undefined);
    if (read.kind === 'malformed') {
      this.end(status.INVALID_ARGUMENT, `the request is malformed: ${read.reason}`);
      return;
    }
    const { request } = read;
    if (this.#refuses(checkLengths(request, this.#variant, this.#context.limits))) return;
    const seat = this.#seat ?? this.#enter(request.node ?? UNNAMED);
    if (seat === undefined || this.#isAnother(request.nodeId)) return;
    const type = this.#typeOf(request.typeUrl);
    if (type !== undefined) this.#take(type, request, seat.feed.view(type.url, this.#zone));
  }

  #take(type: ServedType, request: R, view: TypeView | undefined): void {
    const { limits } = this.#context;
    if (this.#refuses(checkCount(this.#variant.count(request), view, limits))) return;
    if (this.#refuses(checkNames(this.#variant.names(request), view, limits))) return;
    const channel = this.#channelOf(type.url) ?? this.#open(type);
    const { subscription } = channel;
    const settled = subscription.receive(request);
    for (const names of subscription.remembered) {
      if (this.#refuses(checkNames(names, view, limits))) return;
    }
    this.#reports.unsubscribed(type, subscription.left ?? []);
    if (settled === undefined) {
      const asked = this.#variant.asked(request);
      const unknown = view === undefined ? 0 : this.#reports.unknownNames(type, asked, view);
      if (this.#refuses(this.#meter.takeInvented(unknown, this.#context.clock.now()))) return;
    } else {
      // the clock starts anew if there is more to be answered
      channel.unansweredSinceMs = subscription.waiting ? this.#context.clock.now() : undefined;
      if (request.error === undefined) {
        this.#reports.acknowledged(type, stillAsked(settled, subscription), channel.subscribedAtMs);
      } else this.#reports.rejected(type, settled, request.error);
    }
    this.#send();
  }

  /** @returns undefined: the client may see nothing; the stream has been ended. */
  #enter(node: NodeIdentity): Seat | undefined {
    this.#node = node;
    this.#reports.node = node;
    this.#seat = this.#context.join({ node, kind: this.#kind, identities: this.#identities }, this);
    if (this.#seat === undefined) this.#deny();
    else this.#reports.admitted(this.#kind);
    return this.#seat;
  }

  #deny(): void {
    const { code, details } = this.#reports.denied(this.#identities.length);
    this.end(code, details);
  }

  /**
   * The node is who the first request said, whatever permissions, logs and metrics rest on: a request of another one is
   * a mistake of the client that trying again does not mend, so INVALID_ARGUMENT. @returns whether it was one; the
   * stream has been ended then.
   */
  #isAnother(nodeId: string | undefined): boolean {
    if (nodeId === undefined || nodeId === '' || nodeId === this.#node?.id) return false;
    this.end(
      status.INVALID_ARGUMENT,
      `the node of this stream is ${printable(this.#node?.id ?? '')}, not ${printable(nodeId)}`,
    );
    return true;
  }

  /** There is a new snapshot. @returns bytes written. */
  push(): number {
    return this.#send();
  }

  /**
   * To be called now and then: a client that reads nothing loses its connection, as only that frees what is held for
   * it. One that does not answer is sent the newest state regardless: closing its stream would gain nothing but a
   * reconnect, and where many are slow at once that makes it worse.
   */
  sweep(): void {
    const { clock, limits } = this.#context;
    const nowMs = clock.now();
    const { readSeconds } = limits;
    const isLate = (sinceMs: number | undefined): boolean => nowMs - (sinceMs ?? nowMs) > readSeconds * 1000;
    if (isLate(this.#writingSinceMs ?? this.#endedAtMs)) {
      this.#tell('ReadSeconds', `nothing read for ${readSeconds} s, the connection is closed`);
      this.#transport.abort();
      return;
    }
    if (this.ended) return;
    if (this.#node === undefined && isLate(this.#openedAtMs)) {
      this.#refuses(silent(readSeconds));
      return;
    }
    for (const channel of this.#channels) {
      if (nowMs - (channel.unansweredSinceMs ?? nowMs) > limits.ackSeconds * 1000) this.#giveUp(channel);
    }
    this.#letGo(nowMs);
  }

  /** Routes before clusters: the time of those begins when the client has the last route from here. */
  #letGo(nowMs: number): void {
    const feed = this.#seat?.feed;
    const endpoints = feed?.view(ENDPOINT_TYPE.url);
    for (const { type, subscription, subscribedAtMs } of this.#channels.toReversed()) {
      if (type.keepMs === undefined) continue;
      const view = feed?.view(type.url, this.#zone);
      const sinceMs = Math.max(subscribedAtMs, this.#leftAtMs);
      if (view === undefined || endpoints === undefined || nowMs - sinceMs < type.keepMs) break;
      if (subscription.letGo?.(view, endpoints) !== false) continue;
      this.#leftAtMs = nowMs;
      this.#send();
      break;
    }
  }

  end(code: status, details: string): void {
    if (this.ended) return;
    this.#endedAtMs = this.#context.clock.now();
    this.#transport.end(code, printable(details));
  }

  /** The client is gone: nothing is written any more. */
  close(): void {
    this.#endedAtMs ??= this.#context.clock.now();
    this.#channels = [];
    this.#seat?.leave();
  }

  /** The gRPC library has ended the stream and told the client why; nobody else has heard of it. */
  cutOff(): void {
    const most = 2 * this.#context.limits.messageBytes;
    this.#tell('MessageBytes', `a request of more than ${most} bytes, or a header that gRPC does not know`);
  }

  /** Nothing is taken from the client any more. */
  get ended(): boolean {
    return this.#endedAtMs !== undefined;
  }

  /** @returns whether there is one; the stream has been ended then. */
  #refuses(refusal: Refusal | undefined): boolean {
    if (refusal === undefined) return false;
    this.#reports.refused(refusal);
    this.end(refusal.code, refusal.details);
    return true;
  }

  #tell(limit: LimitName, what: string): void {
    this.#reports.refused({ limit, details: `Xds.Limits.${limit}: ${what}` });
  }

  #giveUp(channel: Channel<R>): void {
    const { ackSeconds } = this.#context.limits;
    this.#tell(
      'AckSeconds',
      `no answer to ${channel.type.url} for ${ackSeconds} s, it is no longer waited for`,
    );
    channel.unansweredSinceMs = undefined;
    channel.subscription.giveUp();
    this.#send();
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
    else this.#reports.unknownType(typeUrl);
    return undefined;
  }

  /**
   * What a client says to have from an earlier stream is not trusted while the parents of the type may be warming:
   * when they changed on this stream, or when it does not ask for them, which it does not do before they are warm.
   */
  #open(type: ServedType): Channel<R> {
    const parent = this.#types.find(({ url }) => url === type.parent);
    const warming = parent !== undefined && (this.#channelOf(parent.url)?.changed ?? true);
    const channel = {
      type,
      subscription: this.#variant.subscribe(type, !warming, this.#context.limits.names),
      subscribedAtMs: this.#context.clock.now(),
      unansweredSinceMs: undefined,
      changed: false,
    };
    const place = (of: Channel<R>): number => this.#types.indexOf(of.type);
    this.#channels = [...this.#channels, channel].sort((one, other) => place(one) - place(other));
    return channel;
  }

  get #zone(): string {
    return this.#node?.zone ?? '';
  }

  #channelOf(typeUrl: string): Channel<R> | undefined {
    return this.#channels.find(({ type }) => type.url === typeUrl);
  }

  /** Writes the first response that is due, in the order of the types; the rest when that one has been taken. @returns its bytes. */
  #send(): number {
    const feed = this.#seat?.feed;
    if (feed === undefined || this.#writingSinceMs !== undefined || this.ended) return 0;
    for (const channel of this.#channels) {
      const view = feed.view(channel.type.url, this.#zone);
      const update = view && channel.subscription.next(view);
      if (update !== undefined) return this.#write(feed, channel, update);
    }
    return 0;
  }

  #write(feed: Feed, channel: Channel<R>, update: Update): number {
    const { clock, observer } = this.#context;
    const { type, subscription } = channel;
    const response = feed.response(this.#variant.name, type.url, update, subscription.lastNonce);
    subscription.sent(response);
    this.#noteChange(feed, channel, update);
    const nowMs = clock.now();
    this.#writingSinceMs = nowMs;
    channel.unansweredSinceMs ??= nowMs;
    const bytes = response.framed.byteLength;
    observer.sent(type.url, bytes - PREFIX_BYTES);
    this.#transport.write(response.framed, () => {
      this.#writingSinceMs = undefined;
      this.#send();
    });
    return bytes;
  }

  /**
   * Changed parents warm until they get their children, for which the client does not ask again. A parent without a
   * child of its own name may wait for any of them.
   */
  #noteChange(feed: Feed, parent: Channel<R>, { changed }: Update): void {
    if (changed.length === 0) return;
    parent.changed = true;
    for (const { type, subscription } of this.#channels) {
      const view = type.parent === parent.type.url ? feed.view(type.url, this.#zone) : undefined;
      if (view === undefined) continue;
      const named = changed.every((name) => view.resources.has(name) || view.held.has(name));
      subscription.renew(named ? changed : [...view.resources.keys()]);
    }
  }
}

/** An acknowledgement may come after the client has left what it is of. */
function stillAsked(versions: Versions, subscription: Pick<Subscription<never>, 'includes'>): Versions {
  const asked = (name: string): boolean => subscription.includes(name);
  if ([...versions.keys()].every(asked)) return versions;
  return new Map([...versions].filter(([name]) => asked(name)));
}

function silent(seconds: number): Refusal {
  const details = `Xds.Limits.ReadSeconds: no request for ${seconds} s`;
  return { limit: 'ReadSeconds', code: status.DEADLINE_EXCEEDED, details };
}
