import { connect, type Socket } from 'node:net';
import { FLAG, FRAME, FRAME_HEADER_BYTES, frame, STREAM, windowUpdate } from './frames.ts';
import { ResponseScanner, type ScannedResponse } from './response-scanner.ts';

/** As much as an Envoy lets a server send ahead. */
export const WINDOW_BYTES = 16 * 1024 * 1024;

/** Shared: what a socket has read is taken before any other reads. */
const READ_BUFFER = Buffer.allocUnsafeSlow(128 * 1024);
const SETTINGS_ACK = frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0));
const PING_BYTES = 8;

/**
 * One gRPC stream on a connection of its own, in frames written by hand: thousands of them in one process must cost less
 * than the server that they measure. It keeps to the windows without counting what it sends: an acknowledgement is
 * far smaller than the least window, and is read before the next response comes.
 */
export class Sidecar {
  readonly #socket: Socket;
  readonly #scanner: ResponseScanner;
  readonly #onEnd: (reason: string) => void;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  readonly #ping = Buffer.alloc(PING_BYTES);
  #headerFilled = 0;
  #payloadLeft = 0;
  #unacknowledgedBytes = 0;

  /** @param hello what is sent as soon as the connection stands. */
  constructor(options: {
    readonly port: number;
    readonly hello: readonly Buffer[];
    readonly onResponse: (response: ScannedResponse) => void;
    readonly onEnd: (reason: string) => void;
  }) {
    this.#scanner = new ResponseScanner(options.onResponse);
    this.#onEnd = options.onEnd;
    this.#socket = connect({
      host: '127.0.0.1',
      port: options.port,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (length) => {
          this.#read(length);
          return true;
        },
      },
    });
    this.#socket.cork();
    for (const bytes of options.hello) this.#socket.write(bytes);
    this.#socket.uncork();
    this.#socket.once('error', (error) => {
      this.#onEnd(error.message);
    });
    this.#socket.once('close', () => {
      this.#onEnd('the connection is closed');
    });
  }

  send(frames: Buffer): void {
    this.#socket.write(frames);
  }

  close(): void {
    this.#socket.resetAndDestroy();
  }

  #read(length: number): void {
    let position = 0;
    while (position < length) {
      if (this.#headerFilled < FRAME_HEADER_BYTES) {
        const end = Math.min(length, position + FRAME_HEADER_BYTES - this.#headerFilled);
        READ_BUFFER.copy(this.#header, this.#headerFilled, position, end);
        this.#headerFilled += end - position;
        position = end;
        if (this.#headerFilled < FRAME_HEADER_BYTES) return;
        this.#payloadLeft = this.#header.readUIntBE(0, 3);
      }
      const end = Math.min(length, position + this.#payloadLeft);
      this.#payload(position, end);
      this.#payloadLeft -= end - position;
      position = end;
      if (this.#payloadLeft === 0) {
        this.#headerFilled = 0;
        this.#endOfFrame();
      }
    }
  }

  #payload(start: number, end: number): void {
    const type = this.#header.readUInt8(3);
    if (type === FRAME.data) this.#scanner.take(READ_BUFFER, start, end);
    else if (type === FRAME.ping) READ_BUFFER.copy(this.#ping, PING_BYTES - this.#payloadLeft, start, end);
  }

  #endOfFrame(): void {
    const flags = this.#header.readUInt8(4);
    switch (this.#header.readUInt8(3)) {
      case FRAME.data:
        this.#unacknowledgedBytes += this.#header.readUIntBE(0, 3);
        if (this.#unacknowledgedBytes > WINDOW_BYTES / 2) this.#openWindows();
        break;
      case FRAME.headers:
        if ((flags & FLAG.endStream) !== 0) this.#onEnd('the server ended the stream');
        break;
      case FRAME.settings:
        if ((flags & FLAG.ack) === 0) this.send(SETTINGS_ACK);
        break;
      case FRAME.ping:
        if ((flags & FLAG.ack) === 0) this.send(frame(FRAME.ping, FLAG.ack, 0, this.#ping));
        break;
      case FRAME.reset:
      case FRAME.goaway:
        this.#onEnd('the server gave the stream up');
        break;
    }
  }

  #openWindows(): void {
    for (const stream of [0, STREAM]) this.send(windowUpdate(stream, this.#unacknowledgedBytes));
    this.#unacknowledgedBytes = 0;
  }
}
