import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { XdsHarness } from '../../support/xds-harness.ts';

const DELTA = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
const INVALID_ARGUMENT = '3';

const harness = new XdsHarness();
let session: ClientHttp2Session;

before(async () => {
  const { host, port } = await harness.listen();
  session = connect(`http://${host}:${port}`);
});

after(async () => {
  session.destroy();
  await harness.server.stop();
});

function open(more: OutgoingHttpHeaders): ClientHttp2Stream {
  const headers = { ':method': 'POST', ':path': DELTA, 'content-type': 'application/grpc', te: 'trailers' };
  return session.request({ ...headers, ...more });
}

function message(compressed: 0 | 1, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed, 0);
  head.writeUInt32BE(content.byteLength, 1);
  return Buffer.concat([head, content]);
}

/** The status that the server ends a stream with. */
async function statusOf(
  stream: ClientHttp2Stream,
): Promise<{ readonly code: string; readonly details: string }> {
  stream.resume();
  const [headers] = (await once(stream, 'response')) as [Record<string, string>];
  const told =
    headers['grpc-status'] === undefined
      ? ((await once(stream, 'trailers')) as [Record<string, string>])[0]
      : headers;
  return { code: told['grpc-status'] ?? '', details: decodeURIComponent(told['grpc-message'] ?? '') };
}

for (const encoding of ['gzip', 'deflate', 'snappy']) {
  test(`a message compressed with ${encoding} is malformed, whatever it would become`, async () => {
    const stream = open({ 'grpc-encoding': encoding });
    stream.end(message(1, gzipSync(Buffer.alloc(900_000))));
    const { code, details } = await statusOf(stream);
    assert.equal(code, INVALID_ARGUMENT);
    assert.match(details, /malformed/);
  });
}

test('a client that may compress, and does not, is understood', async () => {
  const stream = open({ 'grpc-encoding': 'gzip' });
  stream.end(message(0, Buffer.alloc(0)));
  assert.match((await statusOf(stream)).details, /needs type_url/);
});

test('headers beyond the limit are refused by HTTP/2, and the others of the connection go on', async () => {
  const refused = open({ padding: 'x'.repeat(20_000) });
  const [error] = (await once(refused, 'error')) as [Error];
  assert.match(error.message, /NGHTTP2_ENHANCE_YOUR_CALM/);
  const fine = open({ padding: 'x'.repeat(8_000) });
  fine.end(message(0, Buffer.alloc(0)));
  assert.match((await statusOf(fine)).details, /needs type_url/);
});
