import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { Duplex } from 'node:stream';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { transportOf } from '../../../src/xds/call-transport.ts';
import { Connection } from '../../../src/xds/connection.ts';

let server: Http2Server;
let session: ClientHttp2Session;
let client: ClientHttp2Stream;
let stream: ServerHttp2Stream;
let heads: number;

before(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

after(() => {
  session.destroy();
  server.close();
});

beforeEach(async () => {
  heads = 0;
  client = session.request({ ':method': 'POST' });
  [stream] = (await once(server, 'stream')) as [ServerHttp2Stream];
});

/** What stands for the gRPC library sends the head. */
function transport() {
  const sendMetadata = () => {
    heads++;
    stream.respond();
  };
  const call = Object.assign(new Duplex(), { sendMetadata }) as unknown as ServerDuplexStream<Buffer, Buffer>;
  const socket = stream.session?.socket;
  assert.ok(socket);
  return transportOf(call, stream, new Connection(socket, 0));
}

async function received(): Promise<string> {
  let text = '';
  for await (const chunk of client) text += String(chunk);
  return text;
}

test('the head goes before the first message, and only then', async () => {
  const way = transport();
  await new Promise<void>((resolve) => {
    way.write(Buffer.from('one '), resolve);
  });
  await new Promise<void>((resolve) => {
    way.write(Buffer.from('two'), resolve);
  });
  stream.end();
  assert.equal(await received(), 'one two');
  assert.equal(heads, 1);
});

test('to a stream that has been ended nothing is written, and its end stays a clean one', async () => {
  const way = transport();
  stream.respond();
  stream.end('last');
  way.write(Buffer.from('late'), () => {
    assert.fail('it was not taken');
  });
  assert.equal(await received(), 'last');
  assert.equal(client.rstCode, 0);
});
