import { type MethodDefinition, Server, ServerCredentials } from '@grpc/grpc-js';

/** Answers at once, with the backend's own `ADDRESS:PORT`. */
export const WHO: MethodDefinition<Buffer, Buffer> = {
  path: '/test.Backend/Who',
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
};

function same(bytes: Buffer): Buffer {
  return bytes;
}

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
    this.#port = await new Promise((resolve, reject) => {
      this.#server.bindAsync(`${this.address}:0`, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}
