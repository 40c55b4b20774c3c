import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ListenAddress } from '../../src/core/model/configuration.ts';

/** Types of HTTP/2 frames. */
export const FRAME = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

const END_HEADERS = 4;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const DELTA = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';

/** A connection that writes HTTP/2 frame by frame, valid or not, and throws away what it reads. */
export class RawHttp2 {
  readonly socket: Socket;
  #stream = -1;

  /** @param tls undefined: plain text. */
  constructor({ host, port }: ListenAddress, tls?: ConnectionOptions) {
    const socket =
      tls === undefined ? connect({ host, port }) : connectTls({ host, port, ALPNProtocols: ['h2'], ...tls });
    // What goes wrong shows in `closed`.
    socket.on('error', () => undefined).resume();
    this.socket = socket;
    socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
  }

  get closed(): boolean {
    return this.socket.closed;
  }

  /** Opens a stream. @returns its number. */
  open(path = DELTA, more: Readonly<Record<string, string>> = {}): number {
    this.#stream += 2;
    this.socket.write(frame(FRAME.headers, END_HEADERS, this.#stream, headers(path, more)));
    return this.#stream;
  }

  /** @param content cut into frames of so many bytes. */
  data(stream: number, content: Uint8Array, frameBytes = 16_384): void {
    const frames: Buffer[] = [];
    for (let at = 0; at < content.length; at += frameBytes) {
      frames.push(frame(FRAME.data, 0, stream, content.subarray(at, at + frameBytes)));
    }
    this.socket.write(Buffer.concat(frames));
  }

  /** Any frame. */
  send(type: number, flags: number, stream: number, payload: Uint8Array): void {
    this.socket.write(frame(type, flags, stream, payload));
  }

  close(): void {
    this.socket.destroy();
  }
}

export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function headers(path: string, more: Readonly<Record<string, string>>): Buffer {
  const fields = {
    ':method': 'POST',
    ':scheme': 'http',
    ':authority': 'plimsoll',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...more,
  };
  return Buffer.concat(Object.entries(fields).map(([name, value]) => literal(name, value)));
}

/** A header field without compression, each part of it shorter than 127 bytes. */
function literal(name: string, value: string): Buffer {
  const parts = [name, value].map((text) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]));
  return Buffer.concat([Buffer.from([0]), ...parts]);
}
