import type { LimitName } from './refusal.ts';
import type { VariantName } from './response-cache.ts';

/** Is told what happens on the streams. Every callback is called synchronously and has to be cheap. */
export interface XdsObserver {
  /** @param kind which service: `ads`, `cds`, `eds`, `lds` or `rds`; one of a bounded set. */
  streamOpened(kind: string, variant: VariantName): void;
  /** A stream has said who its client is, who may see something; once, and before anything else is told of it. */
  identified(stream: object, client: ClientIdentity): void;
  /** @param stream as in its {@link Acknowledgement}s; none of it comes afterwards. */
  streamClosed(kind: string, variant: VariantName, stream: object): void;
  sent(typeUrl: string, bytes: number): void;
  acknowledged(acknowledgement: Acknowledgement): void;
  rejected(rejection: Rejection): void;
  /** A stream asks no more for names that it may have taken; no acknowledgement of them comes until it asks for them again. */
  unsubscribed(stream: object, typeUrl: string, names: readonly string[]): void;
  /** A limit has stopped a client, or given it up. */
  refused(limit: LimitName): void;
  /** An aggregated stream asked for a type that is not served. The client chose the text: it is printable and cut, but not one of a bounded set. */
  unknownType(typeUrl: string): void;
  /** A request named a resource that does not exist. */
  unknownName(typeUrl: string): void;
}

/** Who a client is; every text is printable and cut. */
export interface ClientIdentity {
  /** As in {@link Acknowledgement}. */
  readonly node: string;
  /** The node's cluster; empty: the client gave none. */
  readonly cluster: string;
  /** The node's zone; empty: the client gave none. */
  readonly zone: string;
  /** The first name of its certificate; without one, its IP address, or of an IPv6 address the network. */
  readonly identity: string;
  /** `address:port` of the other end of the connection. */
  readonly peer: string;
  /** Which service, as in {@link XdsObserver}. */
  readonly kind: string;
}

export interface Acknowledgement {
  /** Tells streams apart: the same object in all that one stream says. */
  readonly stream: object;
  readonly typeUrl: string;
  /** The node's id, printable and cut; empty: the client gave none. */
  readonly node: string;
  /** The node's zone as the client gave it; empty: it gave none. */
  readonly zone: string;
  /** By name: the version that the client has. */
  readonly resources: ReadonlyMap<string, string>;
  /** When the stream first asked for the type. */
  readonly subscribedAtMs: number;
  readonly atMs: number;
}

export interface Rejection {
  /** As in {@link Acknowledgement}. */
  readonly stream: object;
  readonly typeUrl: string;
  /** The node's id, printable and cut; empty: the client gave none. */
  readonly node: string;
  /** By name: the version that the client refused. */
  readonly resources: ReadonlyMap<string, string>;
  /** The client's reason, printable and cut. */
  readonly message: string;
}
