import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { ServerDuplexStream } from '@grpc/grpc-js';

/** Whatever a client sends in it is replaced. */
const KEY = 'x-plimsoll-stream';

/**
 * Finds the HTTP/2 stream that a call of the gRPC library stands on, which the library tells nobody: each gets a number as a
 * header of its request, and the library hands the headers on with the call.
 */
export class HttpStreams {
  readonly #waiting = new Map<string, ServerHttp2Stream>();
  #last = 0;

  /** To be called with each new stream, before the library sees the headers. */
  add(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const key = String(++this.#last);
    headers[KEY] = key;
    this.#waiting.set(key, stream);
    // there is no call for what the library refuses by itself
    stream.once('close', () => {
      this.#waiting.delete(key);
    });
  }

  /** To be called once for each call. @returns undefined: the stream has closed. */
  take(call: Pick<ServerDuplexStream<unknown, unknown>, 'metadata'>): ServerHttp2Stream | undefined {
    const key = String(call.metadata.get(KEY)[0]);
    const stream = this.#waiting.get(key);
    this.#waiting.delete(key);
    return stream;
  }
}
