import { type Server, ServerCredentials } from '@grpc/grpc-js';

/** In plain text, on a port that is free. @returns the port */
export function listenPlain(server: Server, address = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${address}:0`, ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve(port);
      else reject(error);
    });
  });
}
