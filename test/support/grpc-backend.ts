import { type MethodDefinition, Server } from '@grpc/grpc-js';
import { bytesMethod } from '../../src/xds/service.ts';
import { listenPlain } from './grpc-listen.ts';

/** Answers at once, with the backend's own `ADDRESS:PORT`. */
export const WHO: MethodDefinition<Buffer, Buffer> = {
  ...bytesMethod('/test.Backend/Who'),
  requestStream: false,
  responseStream: false,
};

/** A gRPC server with the one method {@link WHO}. */
export class GrpcBackend {
  readonly address: string;
  readonly #server = new Server();
  #port = 0;

  constructor(address: string) {
    this.address = address;
    this.#server.addService(
      { who: WHO },
      {
        who: (_call: unknown, answer: (error: null, id: Buffer) => void) => {
          answer(null, Buffer.from(this.id));
        },
      },
    );
  }

  get port(): number {
    return this.#port;
  }

  get id(): string {
    return `${this.address}:${this.#port}`;
  }

  async start(): Promise<void> {
    this.#port = await listenPlain(this.#server, this.address);
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
