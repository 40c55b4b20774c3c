import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { ConnectionOptions } from 'node:tls';
import type { ListenAddress } from '../../src/core/model/configuration.ts';

const PATHS = {
  sotw: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
  delta: '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
} as const;

/** An HTTP/2 connection for what no gRPC client would do. It reads nothing unless it is told to. */
export class RawConnection {
  readonly session: ClientHttp2Session;

  /** @param tls undefined: plain text. */
  constructor({ host, port }: ListenAddress, tls?: ConnectionOptions) {
    const scheme = tls === undefined ? 'http' : 'https';
    this.session = connect(`${scheme}://${host}:${port}`, { ...tls });
    // What goes wrong shows in the streams and in `closed`.
    this.session.on('error', () => undefined);
  }

  open(variant: keyof typeof PATHS, headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': PATHS[variant],
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    stream.on('error', () => undefined);
    return stream;
  }

  get closed(): boolean {
    return this.session.destroyed || this.session.socket.destroyed;
  }

  close(): void {
    this.session.destroy();
  }
}

/** One message as gRPC frames it. */
export function framed(message: Buffer, compressed = 0, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}
