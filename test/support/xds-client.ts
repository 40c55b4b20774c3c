import { type ClientDuplexStream, Client, credentials, type StatusObject } from '@grpc/grpc-js';
import type { ListenAddress } from '../../src/core/model.ts';
import { formatHostPort } from '../../src/runtime/host-port.ts';
import { DISCOVERY, encode } from './discovery-proto.ts';
import { type ReceivedResponse, readDelta, readSotw } from './discovery-response.ts';
import { waitFor } from './wait-for.ts';

const PATHS = {
  ads: {
    sotw: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
    delta: '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
  },
  eds: {
    sotw: '/envoy.service.endpoint.v3.EndpointDiscoveryService/StreamEndpoints',
    delta: '/envoy.service.endpoint.v3.EndpointDiscoveryService/DeltaEndpoints',
  },
} as const;

/** Fields of a request in camel case; the two variants have different ones. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** A connection of its own to an xDS server, for requests as a test wants them. */
export class XdsClient {
  readonly #client: Client;

  constructor({ host, port }: ListenAddress) {
    this.#client = new Client(formatHostPort(host, port), credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    });
  }

  open(kind: keyof typeof PATHS, variant: 'sotw' | 'delta'): XdsTestStream {
    const same = (bytes: Buffer): Buffer => bytes;
    const call = this.#client.makeBidiStreamRequest(PATHS[kind][variant], same, same);
    return new XdsTestStream(call, variant);
  }

  close(): void {
    this.#client.close();
  }
}

/** One stream: sends raw requests, records every response and how the stream ended. */
export class XdsTestStream {
  readonly responses: ReceivedResponse[] = [];
  /** How the stream ended; undefined: it is open. */
  status: StatusObject | undefined;
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  readonly #variant: 'sotw' | 'delta';
  #taken = 0;

  constructor(call: ClientDuplexStream<Buffer, Buffer>, variant: 'sotw' | 'delta') {
    this.#call = call;
    this.#variant = variant;
    call.on('data', (bytes: Buffer) => {
      this.responses.push(variant === 'sotw' ? readSotw(bytes) : readDelta(bytes));
    });
    call.on('status', (status: StatusObject) => {
      this.status = status;
    });
    // The same as the status.
    call.on('error', () => undefined);
  }

  send(fields: RequestFields): void {
    const type = this.#variant === 'sotw' ? DISCOVERY.DiscoveryRequest : DISCOVERY.DeltaDiscoveryRequest;
    this.sendBytes(encode(type, fields));
  }

  sendBytes(bytes: Buffer): void {
    this.#call.write(bytes);
  }

  /** Acknowledges `response`. In state of the world `names` are all that the stream asks for. */
  acknowledge(response: ReceivedResponse, names: readonly string[] = []): void {
    this.send(this.#answer(response, names, response.version));
  }

  /** Rejects `response`. In state of the world `names` are all that the stream asks for. */
  reject(response: ReceivedResponse, message: string, names: readonly string[] = []): void {
    this.send({ ...this.#answer(response, names, ''), errorDetail: { code: 13, message } });
  }

  /** The next response that has not been returned yet. */
  async next(): Promise<ReceivedResponse> {
    const response = await waitFor('a response', () => {
      if (this.status !== undefined) throw new Error(`the stream ended: ${this.status.details}`);
      return this.responses[this.#taken];
    });
    this.#taken++;
    return response;
  }

  async ended(): Promise<StatusObject> {
    return waitFor('the end of the stream', () => this.status);
  }

  /** Says that no more requests come. */
  finish(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  #answer(response: ReceivedResponse, names: readonly string[], version: string): RequestFields {
    const answer = { typeUrl: response.typeUrl, responseNonce: response.nonce };
    return this.#variant === 'sotw' ? { ...answer, versionInfo: version, resourceNames: names } : answer;
  }
}
