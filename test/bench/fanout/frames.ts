/** https://www.rfc-editor.org/rfc/rfc9113#section-6 */
export const FRAME = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
} as const;

export const FLAG = { ack: 1, endStream: 1, endHeaders: 4 } as const;

/** The only stream of a connection. */
export const STREAM = 1;

export const FRAME_HEADER_BYTES = 9;
const LARGEST_PAYLOAD = 16_384;
const SETTING_INITIAL_WINDOW_SIZE = 4;

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUIntBE(payload.byteLength, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A gRPC message in as many DATA frames as it needs. */
export function messageFrames(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.byteLength, 1);
  const body = Buffer.concat([prefix, message]);
  const frames: Buffer[] = [];
  for (let start = 0; start < body.byteLength; start += LARGEST_PAYLOAD) {
    frames.push(frame(FRAME.data, 0, STREAM, body.subarray(start, start + LARGEST_PAYLOAD)));
  }
  return Buffer.concat(frames);
}

export function windowUpdate(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return frame(FRAME.windowUpdate, 0, stream, payload);
}

/** What a client sends first: its settings with `window` bytes for each stream and the connection, and a gRPC request's head. */
export function opening(path: string, window: number): Buffer {
  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(SETTING_INITIAL_WINDOW_SIZE);
  settings.writeUInt32BE(window, 2);
  const headers = Object.entries({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'bench',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const block = Buffer.concat(headers.flatMap(([name, value]) => [LITERAL, text(name), text(value)]));
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(FRAME.settings, 0, 0, settings),
    windowUpdate(0, window - 65_535),
    frame(FRAME.headers, FLAG.endHeaders, STREAM, block),
  ]);
}

/** Literal header field without indexing: https://www.rfc-editor.org/rfc/rfc7541#section-6.2.2 */
const LITERAL = Buffer.from([0]);

/** A string of fewer than 127 bytes without Huffman coding. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
}
