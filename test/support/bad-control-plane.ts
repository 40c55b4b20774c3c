import { Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { encodeAssignment } from '../../src/xds/resources/assignment.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { encodeDeltaDiscoveryResponse } from '../../src/xds/response.ts';
import { definitionOf } from '../../src/xds/service.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import { listenPlain } from './grpc-listen.ts';

/** A control plane whose only assignment, of server group `name`, no Envoy takes: its address is a host name. */
export class BadControlPlane {
  readonly #server = new Server();

  constructor(name: string) {
    const eds = XDS_SERVICES.find(({ kind }) => kind === 'eds');
    if (eds === undefined) throw new Error('there is no endpoint service');
    const endpoints = [{ address: 'backend.example', port: 80, weight: 1, health: 'HEALTHY' as const }];
    const bytes = Buffer.from(encodeAssignment({ serverGroup: name, endpoints, dropShare: 0 }));
    const typeUrl = TYPE_URLS.endpoint;
    const response = encodeDeltaDiscoveryResponse({
      version: 'bad',
      typeUrl,
      nonce: 'first',
      resources: [{ typeUrl, name, version: 'bad', serverGroup: name, bytes }],
      removed: [],
    });
    this.#server.addService(definitionOf(eds), {
      sotw: (call: ServerDuplexStream<Buffer, Buffer>) => call.end(),
      delta: (call: ServerDuplexStream<Buffer, Buffer>) => {
        call.once('data', () => call.write(response));
        call.on('data', () => undefined).on('error', () => undefined);
      },
    });
  }

  /** @returns its port on 127.0.0.1 */
  start(): Promise<number> {
    return listenPlain(this.#server);
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
