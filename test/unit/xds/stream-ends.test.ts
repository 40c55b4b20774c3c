/** How a stream ends on the wire: what was written to it arrives first, then the status. */
import assert from 'node:assert/strict';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { after, before, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';
import { framed, RawConnection } from '../../support/raw-grpc.ts';
import { RawHttp2 } from '../../support/raw-http2.ts';
import { snapshot } from '../../support/snapshots.ts';
import { waitFor } from '../../support/wait-for.ts';
import { XdsHarness } from '../../support/xds-harness.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const harness = new XdsHarness({ settings: xdsSettings({ requestsPerSecond: 10, readSeconds: 0.5 }) });
let connection: RawConnection;
let address: ConstructorParameters<typeof RawConnection>[0];

before(async () => {
  harness.store.set(snapshot({ cluster: { c: '1' } }));
  address = await harness.listen();
  connection = new RawConnection(address);
});

after(async () => {
  connection.close();
  await harness.server.stop();
});

function request(id: string): Buffer {
  return framed(encode(DISCOVERY.DeltaDiscoveryRequest, { typeUrl: TYPE_URLS.cluster, node: { id } }));
}

const REQUEST = request('a');

/** What came, in its order: `message` and the status. */
async function story(stream: ClientHttp2Stream): Promise<string> {
  const came: string[] = [];
  const note = (headers: IncomingHttpHeaders): void => {
    const code = headers['grpc-status'];
    if (code !== undefined) came.push(status[Number(code)] ?? '');
  };
  stream.on('response', note).on('trailers', note);
  stream.once('data', () => came.push('message'));
  await waitFor('the status', () => came.some((each) => each !== 'message'));
  stream.close();
  return came.join(', ');
}

const ENDS: readonly (readonly [string, string, (stream: ClientHttp2Stream) => void, object?])[] = [
  ['that the client half-closes', 'OK', (stream) => stream.end(REQUEST)],
  [
    'whose node changes',
    'INVALID_ARGUMENT',
    (stream) => stream.write(Buffer.concat([REQUEST, request('b')])),
  ],
  [
    'with a malformed request',
    'INVALID_ARGUMENT',
    (stream) => stream.write(Buffer.concat([REQUEST, framed(Buffer.from([0xff]))])),
  ],
  [
    'beyond RequestsPerSecond',
    'RESOURCE_EXHAUSTED',
    (stream) => stream.write(Buffer.concat(Array<Buffer>(12).fill(REQUEST))),
  ],
  ['with a deadline', 'DEADLINE_EXCEEDED', (stream) => stream.write(REQUEST), { 'grpc-timeout': '200m' }],
];

for (const [which, code, play, headers = {}] of ENDS) {
  test(`a stream ${which}: the message, then ${code}`, async () => {
    const stream = connection.open('delta', { ...headers });
    play(stream);
    assert.equal(await story(stream), `message, ${code}`);
  });
}

test('a client that names a stream of its own in the headers gets its own', async () => {
  const streams = ['1', ['1', '2']].map((value) =>
    connection.session.request({
      ':method': 'POST',
      ':path': '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
      'content-type': 'application/grpc',
      'x-plimsoll-stream': value,
    }),
  );
  for (const stream of streams) stream.end(REQUEST);
  assert.deepEqual(await Promise.all(streams.map(story)), ['message, OK', 'message, OK']);
});

test('a stream that takes no messages, as of HEAD, costs its connection and nothing else', async () => {
  const hostile = new RawHttp2(address);
  hostile.data(hostile.open(undefined, { ':method': 'HEAD' }), REQUEST);
  const stream = connection.open('delta');
  stream.write(REQUEST);
  await waitFor('the close', () => hostile.closed);
  stream.end();
  assert.equal(await story(stream), 'message, OK');
});

test('streams that are reset while they are written to leave nothing, and the others go on', async () => {
  const stream = connection.open('delta');
  stream.write(REQUEST);
  for (let version = 2; version < 12; version++) {
    const reset = Array.from({ length: 10 }, () => connection.open('delta'));
    for (const each of reset) each.write(REQUEST);
    harness.store.set(snapshot({ cluster: { c: String(version) } }));
    for (const each of reset) each.close(8);
  }
  stream.end();
  assert.equal(await story(stream), 'message, OK');
  await waitFor('the closes', () => harness.streams === 0);
});
