import { status } from '@grpc/grpc-js';
import type { Clock } from '../runtime/clock.ts';
import type { LogLimiter } from '../runtime/log-limiter.ts';
import { printable } from '../runtime/text.ts';
import type { XdsObserver } from './observer.ts';
import type { Refusal } from './refusal.ts';
import type { Refusals } from './refusals.ts';
import type { NodeIdentity, RequestError } from './request.ts';
import type { ServedType } from './served-types.ts';
import { EVERY_NAME, type TypeView, type Versions } from './subscription.ts';

/** Who hears of what happens on the streams. */
export interface StreamAudience {
  readonly clock: Clock;
  readonly warnings: LogLimiter;
  readonly refusals: Refusals;
  readonly observer: XdsObserver;
  /** Called for every request of a type that is not served. */
  readonly unknownType: (typeUrl: string, node: string) => void;
  /** Called for every name that a request asks for and that does not exist. @param name not made printable */
  readonly unknownName: (
    typeUrl: string,
    name: string,
    node: string,
    existing: ReadonlyMap<string, unknown>,
  ) => void;
}

/** Makes heard what one stream does: who it is, what it refused, and what it was refused. Log lines are limited by client, of which there are fewer than it can invent nodes. */
export class StreamReports {
  readonly #audience: StreamAudience;
  readonly #client: string;
  readonly #peer: string;
  readonly #stream: object;
  #node: NodeIdentity | undefined;
  /** The node's id, printable. */
  #nodeId = '';

  /**
   * @param client printable: who is counted and named when a limit is reached.
   * @param peer `address:port` of the other end.
   * @param stream as in {@link XdsObserver}.
   */
  constructor(audience: StreamAudience, client: string, peer: string, stream: object) {
    this.#audience = audience;
    this.#client = client;
    this.#peer = peer;
    this.#stream = stream;
  }

  /** The first request told it. */
  set node(node: NodeIdentity) {
    this.#node = node;
    this.#nodeId = printable(node.id);
  }

  /** The client may see something. @param kind the stream's service. */
  admitted(kind: string): void {
    this.#audience.observer.identified(this.#stream, {
      node: this.#nodeId,
      cluster: printable(this.#node?.cluster ?? ''),
      zone: printable(this.#node?.zone ?? ''),
      identity: this.#client,
      peer: this.#peer,
      kind,
    });
  }

  refused(refusal: Pick<Refusal, 'limit' | 'details'>): void {
    this.#audience.refusals.tell(refusal, this.#client, this.#nodeId);
  }

  /** @returns what the client is to be told. */
  denied(identities: number): Pick<Refusal, 'code' | 'details'> {
    this.#audience.warnings.warn(
      'permission denied',
      this.#client,
      { client: this.#client, node: this.#nodeId, identities },
      'a client may see no server group: its stream is refused',
    );
    return { code: status.PERMISSION_DENIED, details: `no server group is open to ${this.#client}` };
  }

  acknowledged({ url }: ServedType, resources: Versions, subscribedAtMs: number): void {
    const { observer, clock } = this.#audience;
    const node = this.#nodeId;
    const atMs = clock.now();
    const zone = this.#node?.zone ?? '';
    observer.acknowledged({
      stream: this.#stream,
      typeUrl: url,
      node,
      zone,
      resources,
      subscribedAtMs,
      atMs,
    });
  }

  unsubscribed({ url }: ServedType, names: readonly string[]): void {
    if (names.length > 0) this.#audience.observer.unsubscribed(this.#stream, url, names);
  }

  rejected({ url }: ServedType, resources: Versions, error: RequestError): void {
    const { observer, warnings } = this.#audience;
    const node = this.#nodeId;
    const message = printable(error.message.trim(), 500);
    observer.rejected({ stream: this.#stream, typeUrl: url, node, resources, message });
    warnings.warn(
      `rejected ${url}`,
      this.#client,
      {
        client: this.#client,
        node,
        cluster: printable(this.#node?.cluster ?? ''),
        type: url,
        names: printable([...resources.keys()].slice(0, 10).join(' ')),
        code: error.code,
        reason: message,
      },
      'a sidecar rejected a response: it keeps what it had, and this version is not sent to it again',
    );
  }

  /** A request asks for a type that is not served. */
  unknownType(typeUrl: string): void {
    this.#audience.unknownType(printable(typeUrl), this.#nodeId);
  }

  /**
   * A name that does not exist may appear later; mostly it is a mistake in the client's configuration.
   * @returns how many of `asked` do not exist.
   */
  unknownNames({ url }: ServedType, asked: readonly string[], { resources, held }: TypeView): number {
    let unknown = 0;
    for (const name of asked) {
      if (name === '' || name === EVERY_NAME || resources.has(name) || held.has(name)) continue;
      this.#audience.unknownName(url, name, this.#nodeId, resources);
      unknown++;
    }
    return unknown;
  }
}
