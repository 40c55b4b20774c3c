import {
  type ChannelCredentials,
  type ClientDuplexStream,
  Client,
  credentials,
  type StatusObject,
} from '@grpc/grpc-js';
import type { ListenAddress } from '../../src/core/model/configuration.ts';
import { formatHostPort } from '../../src/runtime/host-port.ts';
import { DISCOVERY, encode } from './discovery-proto.ts';
import { type ReceivedResponse, readDelta, readSotw } from './discovery-response.ts';

const PATHS = {
  ads: paths('discovery', 'AggregatedDiscoveryService', 'AggregatedResources'),
  cds: paths('cluster', 'ClusterDiscoveryService', 'Clusters'),
  eds: paths('endpoint', 'EndpointDiscoveryService', 'Endpoints'),
  lds: paths('listener', 'ListenerDiscoveryService', 'Listeners'),
  rds: paths('route', 'RouteDiscoveryService', 'Routes'),
} as const;

function paths(of: string, service: string, what: string): Readonly<Record<'sotw' | 'delta', string>> {
  const prefix = `/envoy.service.${of}.v3.${service}`;
  return { sotw: `${prefix}/Stream${what}`, delta: `${prefix}/Delta${what}` };
}

export type ServiceKind = keyof typeof PATHS;

/** Fields of a request in camel case; the two variants have different ones. */
export type RequestFields = Readonly<Record<string, unknown>>;

/** A connection of its own to an xDS server, for requests as a test wants them. */
export class XdsClient {
  readonly #client: Client;

  constructor({ host, port }: ListenAddress, security: ChannelCredentials = credentials.createInsecure()) {
    this.#client = new Client(formatHostPort(host, port), security, {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    });
  }

  open(kind: ServiceKind, variant: 'sotw' | 'delta'): XdsTestStream {
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
  /** Is called with each response as it arrives. */
  onResponse: (response: ReceivedResponse) => void = () => undefined;
  /** Is called once the stream has ended. */
  onEnd: () => void = () => undefined;
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  readonly #variant: 'sotw' | 'delta';
  #taken = 0;
  #wake = (): void => undefined;
  #reject = (_reason: Error): void => undefined;

  constructor(call: ClientDuplexStream<Buffer, Buffer>, variant: 'sotw' | 'delta') {
    this.#call = call;
    this.#variant = variant;
    call.on('data', (bytes: Buffer) => {
      const response = variant === 'sotw' ? readSotw(bytes) : readDelta(bytes);
      this.responses.push(response);
      this.onResponse(response);
      this.#wake();
    });
    call.on('status', (status: StatusObject) => {
      this.status = status;
      this.onEnd();
      this.#wake();
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
    await this.#until('a response', () => this.responses.length > this.#taken || this.status !== undefined);
    const response = this.responses[this.#taken];
    if (response === undefined) throw new Error(`the stream ended: ${this.status?.details}`);
    this.#taken++;
    return response;
  }

  /** Responses that {@link next} has not returned yet. */
  get left(): readonly ReceivedResponse[] {
    return this.responses.slice(this.#taken);
  }

  async ended(): Promise<StatusObject> {
    await this.#until('the end of the stream', () => this.status !== undefined);
    return this.status as StatusObject;
  }

  /** Says that no more requests come. */
  finish(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  /** Looks again whenever something has come. */
  async #until(what: string, holds: () => boolean): Promise<void> {
    const late = setTimeout(() => {
      this.#reject(new Error(`${what}: not within 10 s`));
    }, 10_000);
    try {
      while (!holds()) {
        await new Promise<void>((resolve, reject) => {
          this.#wake = resolve;
          this.#reject = reject;
        });
      }
    } finally {
      clearTimeout(late);
    }
  }

  #answer(response: ReceivedResponse, names: readonly string[], version: string): RequestFields {
    const answer = { typeUrl: response.typeUrl, responseNonce: response.nonce };
    return this.#variant === 'sotw' ? { ...answer, versionInfo: version, resourceNames: names } : answer;
  }
}
