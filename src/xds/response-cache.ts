import { createHash } from 'node:crypto';
import type { Resource } from '../publish/snapshot-store.ts';
import { framed } from './grpc-message.ts';
import { encodeDeltaDiscoveryResponse, encodeDiscoveryResponse } from './response.ts';
import type { SentResponse, Update } from './subscription.ts';

export type VariantName = 'sotw' | 'delta';

export interface EncodedResponse extends SentResponse {
  /** The message with gRPC's prefix, as it is written. Shared by streams, never written to. */
  readonly framed: Buffer;
}

interface Latest {
  readonly typeUrl: string;
  readonly update: Update;
  readonly response: EncodedResponse;
}

/** Clients choose which names they combine, so that the number of different responses has no bound of its own. */
const LIMIT_BYTES = 16 * 1024 * 1024;

/**
 * Encodes responses, each only once for all streams that are told the same. The nonces are one sequence over all
 * streams: larger than any before, so unique for each stream and type.
 */
export class ResponseCache {
  readonly #entries = new Map<string, EncodedResponse>();
  /** What was last asked for: a push asks for the same thousands of times, and a key costs more than a comparison. */
  readonly #latest: Partial<Record<VariantName, Latest>> = {};
  #bytes = 0;
  #lastNonce = 0;

  /** @param after the nonce must be larger: a stream that is told the same twice needs another one. */
  response(variant: VariantName, typeUrl: string, update: Update, after: number): EncodedResponse {
    const latest = this.#latest[variant];
    if (latest?.typeUrl === typeUrl && latest.response.nonce > after && equal(latest.update, update)) {
      return latest.response;
    }
    const response = this.#find(variant, typeUrl, update, after);
    this.#latest[variant] = { typeUrl, update, response };
    return response;
  }

  /** Forgets the responses, not the nonces: from now on other content is told. */
  clear(): void {
    this.#entries.clear();
    delete this.#latest.sotw;
    delete this.#latest.delta;
    this.#bytes = 0;
  }

  #find(variant: VariantName, typeUrl: string, update: Update, after: number): EncodedResponse {
    const resources = update.resources.toSorted(byName);
    const removed = update.removed.toSorted();
    const content = [...resources.map(identity), ...removed.map((name) => `-${quoted(name)}`)].join('');
    const key = `${variant} ${typeUrl} ${content}`;
    const cached = this.#entries.get(key);
    if (cached !== undefined && cached.nonce > after) return cached;
    const nonce = ++this.#lastNonce;
    const fields = { version: versionOf(resources, content), typeUrl, nonce: String(nonce), resources };
    const message =
      variant === 'sotw'
        ? encodeDiscoveryResponse(fields)
        : encodeDeltaDiscoveryResponse({ ...fields, removed });
    const versions = new Map(resources.map(({ name, version }) => [name, version]));
    const response = { nonce, framed: framed(message), versions, removed };
    // Names that are gone are whatever a client makes up: nobody else is likely to be told the same.
    if (removed.length === 0) this.#keep(key, response);
    return response;
  }

  #keep(key: string, response: EncodedResponse): void {
    const size = key.length + response.framed.byteLength;
    this.#bytes += size;
    if (this.#bytes > LIMIT_BYTES) {
      this.clear();
      this.#bytes = size;
    }
    this.#entries.set(key, response);
  }
}

/** Whether two updates tell the same, in the same order. */
function equal(one: Update, other: Update): boolean {
  return (
    one.resources.length === other.resources.length &&
    one.removed.length === other.removed.length &&
    one.resources.every((resource, index) => resource === other.resources[index]) &&
    one.removed.every((name, index) => name === other.removed[index])
  );
}

/** The version of a response: a resource's own, else a hash, and so the same wherever the content is the same. */
function versionOf(resources: readonly Resource[], content: string): string {
  const [only] = resources;
  if (only !== undefined && resources.length === 1) return only.version;
  return createHash('sha256').update(content).digest('hex').slice(0, 20);
}

function identity({ name, version }: Resource): string {
  return `+${quoted(name)}${quoted(version)}`;
}

/** With its length in front no text can pass for two. */
function quoted(text: string): string {
  return `${text.length}:${text}`;
}

function byName(one: Resource, other: Resource): number {
  return one.name < other.name ? -1 : 1;
}
