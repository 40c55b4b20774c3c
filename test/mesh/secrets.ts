import { Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { readProtos } from '../../protos/sources.ts';
import { bytesMethod } from '../../src/xds/service.ts';
import { listenPlain } from '../support/grpc-listen.ts';
import type { Issued } from '../support/pki.ts';

const TYPE_URL = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const root = readProtos([
  'envoy/service/discovery/v3/discovery.proto',
  'envoy/extensions/transport_sockets/tls/v3/secret.proto',
]);
const Secret = root.lookupType('envoy.extensions.transport_sockets.tls.v3.Secret');
const Request = root.lookupType('envoy.service.discovery.v3.DiscoveryRequest');
const Response = root.lookupType('envoy.service.discovery.v3.DiscoveryResponse');

const STREAM = bytesMethod('/envoy.service.secret.v3.SecretDiscoveryService/StreamSecrets');

/** What Istio's agent is beside a sidecar: it tells it its own certificate (`default`) and the mesh's authority (`ROOTCA`). */
export class SecretServer {
  readonly #server = new Server();
  readonly #secrets: ReadonlyMap<string, Uint8Array>;

  constructor(own: Issued, authority: string) {
    const text = (inline: string) => ({ inlineString: inline });
    this.#secrets = new Map([
      secret('default', {
        tlsCertificate: { certificateChain: text(own.cert), privateKey: text(own.key) },
      }),
      secret('ROOTCA', { validationContext: { trustedCa: text(authority) } }),
    ]);
    this.#server.addService(
      { stream: STREAM },
      { stream: (call: ServerDuplexStream<Buffer, Buffer>) => this.#serve(call) },
    );
  }

  /** @returns its port on 127.0.0.1 */
  start(): Promise<number> {
    return listenPlain(this.#server);
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  /** Each stream is for one secret, and no secret ever changes: whatever is no acknowledgement is answered. */
  #serve(call: ServerDuplexStream<Buffer, Buffer>): void {
    call.on('error', () => undefined);
    call.on('end', () => call.end());
    call.on('data', (bytes: Buffer) => {
      const request = Request.decode(bytes) as unknown as {
        readonly responseNonce: string;
        readonly resourceNames: readonly string[];
      };
      if (request.responseNonce !== '') return;
      const resources = request.resourceNames.flatMap((name) => {
        const value = this.#secrets.get(name);
        return value === undefined ? [] : [{ type_url: TYPE_URL, value }];
      });
      const response = Response.fromObject({ versionInfo: '1', nonce: '1', typeUrl: TYPE_URL, resources });
      call.write(Buffer.from(Response.encode(response).finish()));
    });
  }
}

function secret(name: string, fields: object): readonly [string, Uint8Array] {
  const message = Secret.fromObject({ name, ...fields });
  return [name, Secret.encode(message).finish()];
}
