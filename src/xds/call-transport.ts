import type { ServerHttp2Stream } from 'node:http2';
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Connection } from './connection.ts';
import type { StreamTransport } from './stream-context.ts';

/**
 * The way back to the client of a call. The gRPC library would copy each message for each stream, to put the prefix in front;
 * at a push to thousands that costs more time and memory than all the rest. So messages go past it into HTTP/2, where all
 * streams share the bytes of one; the head and the end of the stream are the library's.
 *
 * @param stream what the call stands on.
 */
export function transportOf(
  call: ServerDuplexStream<Buffer, Buffer>,
  stream: ServerHttp2Stream,
  connection: Connection,
): StreamTransport {
  return {
    write: (message, done) => {
      // the library ends a stream by itself when the client's deadline has passed
      if (!stream.writable) return;
      connection.sent(message.byteLength);
      if (!stream.headersSent) call.sendMetadata(new Metadata());
      stream.write(message, (error) => {
        if (error == null) done();
      });
    },
    end: (code, details) => {
      call.emit('error', { code, details });
    },
    abort: () => {
      connection.abort();
    },
  };
}
