import http2, { type ServerHttp2Stream } from 'node:http2';
import { type Server, ServerCredentials } from '@grpc/grpc-js';

export type Injector = ReturnType<Server['createConnectionInjector']>;

type StreamListener = (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

/**
 * The most that the headers of one stream may take, bytes as HTTP/2 counts them: names, values and 32 for each. Node
 * would let 128 headers of any size pass, and by HPACK a header that was sent once costs the client a single byte.
 */
const HEADER_LIST_BYTES = 16 * 1024;

/**
 * Where connections go into the gRPC server. The library offers no setting for two things that a client must not be
 * able to do, so its HTTP/2 server is made by us:
 *
 * - Headers have a limit, beyond which HTTP/2 itself refuses the stream.
 * - Compression is not understood. The library decompresses all messages of a frame at once, before anybody can look at
 *   them, and a kilobyte becomes a megabyte. No xDS client compresses unless it is told to; a message that is compressed
 *   nonetheless is malformed.
 *
 * @param opened is told of each new stream before the library is.
 */
export function createInjector(grpc: Server, opened: StreamListener): Injector {
  const createServer = http2.createServer;
  http2.createServer = ((options: http2.ServerOptions) => {
    const settings = { ...options.settings, maxHeaderListSize: HEADER_LIST_BYTES };
    const server = createServer({ ...options, settings });
    return server.prependListener('stream', (stream, headers) => {
      ignoreEncoding(headers);
      opened(stream, headers);
    });
  }) as typeof createServer;
  try {
    return grpc.createConnectionInjector(ServerCredentials.createInsecure());
  } finally {
    http2.createServer = createServer;
  }
}

function ignoreEncoding(headers: http2.IncomingHttpHeaders): void {
  if (headers['grpc-encoding'] !== undefined) headers['grpc-encoding'] = 'identity';
}
