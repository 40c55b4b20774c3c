/**
 * An application that calls `xds:///GROUP` without a proxy: it makes a call for each line on its standard input, and
 * answers with a line, what the backend said or `CODE DETAILS`. A process of its own, as the library has no way to end
 * all of its timers. Arguments: the group. Environment: GRPC_XDS_BOOTSTRAP_CONFIG.
 */
import { createInterface } from 'node:readline';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { register } from '@grpc/grpc-js-xds';
import { WHO } from './grpc-backend.ts';

register();
const client = new Client(`xds:///${process.argv[2]}`, credentials.createInsecure());
for await (const _line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await call()}\n`);
}
process.exit();

function call(): Promise<string> {
  return new Promise((resolve) => {
    const { path, requestSerialize, responseDeserialize } = WHO;
    const deadline = { deadline: Date.now() + 5_000 };
    const done = (error: ServiceError | null, answer?: Buffer): void => {
      resolve(error === null ? String(answer) : `${error.code} ${error.details}`);
    };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, Buffer.alloc(0), deadline, done);
  });
}
