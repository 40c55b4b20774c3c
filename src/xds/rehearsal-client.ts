import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { framed, PREFIX_BYTES } from './grpc-message.ts';
import { TYPE_URLS } from './resources/type-urls.ts';
import type { VariantName } from './response-cache.ts';
import { lengthDelimited, type Pieces, WireReader } from './wire.ts';

const SERVICE = '/envoy.service.discovery.v3.AggregatedDiscoveryService';
const PATHS: Readonly<Record<VariantName, string>> = {
  sotw: `${SERVICE}/StreamAggregatedResources`,
  delta: `${SERVICE}/DeltaAggregatedResources`,
};

/** One stream on a connection of its own that asks for one endpoint resource and acknowledges every response. */
export class RehearsalClient {
  readonly #variant: VariantName;
  readonly #name: string;
  readonly #session: ClientHttp2Session;
  readonly #call: ClientHttp2Stream;
  #received = Buffer.alloc(0);

  /** @param onVersion is told the version of each response. */
  constructor(options: {
    readonly port: number;
    readonly variant: VariantName;
    readonly name: string;
    readonly onVersion: (version: string) => void;
  }) {
    this.#variant = options.variant;
    this.#name = options.name;
    this.#session = connect(`http://127.0.0.1:${options.port}`);
    // What went wrong shows in responses that do not come.
    this.#session.on('error', () => undefined);
    this.#call = this.#session.request({
      ':method': 'POST',
      ':path': PATHS[this.#variant],
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    this.#call.on('error', () => undefined);
    this.#call.on('data', (bytes: Buffer) => {
      for (const message of this.#messages(bytes)) options.onVersion(this.#acknowledge(message));
    });
    this.#send(this.#request('', ''));
  }

  close(): void {
    this.#session.destroy();
  }

  /** The messages that `bytes` completes. */
  #messages(bytes: Buffer): readonly Buffer[] {
    const messages: Buffer[] = [];
    let rest = Buffer.concat([this.#received, bytes]);
    while (rest.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + rest.readUInt32BE(1);
      if (rest.length < end) break;
      messages.push(rest.subarray(PREFIX_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#received = rest;
    return messages;
  }

  /** Version and nonce have the same numbers in the responses of both variants. */
  #acknowledge(message: Buffer): string {
    const reader = new WireReader(message);
    let version = '';
    let nonce = '';
    while (reader.next()) {
      if (reader.field === 1) version = reader.string();
      else if (reader.field === 5) nonce = reader.string();
      else reader.skip();
    }
    this.#send(this.#request(version, nonce));
    return version;
  }

  #request(version: string, nonce: string): Pieces {
    if (this.#variant === 'sotw') {
      return [
        ...lengthDelimited(1, version),
        ...lengthDelimited(3, this.#name),
        ...lengthDelimited(4, TYPE_URLS.endpoint),
        ...lengthDelimited(5, nonce),
      ];
    }
    return [
      ...lengthDelimited(2, TYPE_URLS.endpoint),
      ...(nonce === '' ? lengthDelimited(3, this.#name) : []),
      ...lengthDelimited(6, nonce),
    ];
  }

  #send(fields: Pieces): void {
    this.#call.write(framed(Buffer.concat(fields)));
  }
}
