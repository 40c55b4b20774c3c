import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { test } from 'node:test';
import { Metadata } from '@grpc/grpc-js';
import { HttpStreams } from '../../../src/xds/http-streams.ts';

/** What the gRPC library makes of a request. */
function opened(streams: HttpStreams, headers: IncomingHttpHeaders = {}) {
  const stream = new EventEmitter() as ServerHttp2Stream;
  streams.add(stream, headers);
  return { stream, call: { metadata: Metadata.fromHttp2Headers(headers) } };
}

test('each call finds its own stream, once, whatever a client writes into the headers', () => {
  const streams = new HttpStreams();
  const honest = opened(streams);
  const [key = ''] = Object.keys(honest.call.metadata.getMap());
  const hostile = opened(streams, { [key]: String(honest.call.metadata.get(key)[0]) });
  assert.equal(streams.take(hostile.call), hostile.stream);
  assert.equal(streams.take(honest.call), honest.stream);
  assert.equal(streams.take(honest.call), undefined);
});

test('a stream that closed before there was a call for it is forgotten', () => {
  const streams = new HttpStreams();
  const { stream, call } = opened(streams);
  stream.emit('close');
  assert.equal(streams.take(call), undefined);
});
