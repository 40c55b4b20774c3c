import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { DISCOVERY, encode } from '../discovery-proto.ts';
import { framed } from '../raw-grpc.ts';
import { FRAME, type RawHttp2 } from '../raw-http2.ts';
import type { XdsTestStream } from '../xds-client.ts';
import { clientAt, connectionAt, type Door, http2At } from './door.ts';
import { type Ask, ask, encodeAsk, mutated, type Variant } from './messages.ts';

type End = 'finish' | 'cancel' | 'stay';

/** What a hostile or broken client does on a connection of its own. */
export type Attack =
  /** Bytes on the bare socket, after HTTP/2's preface or without it. */
  | { readonly kind: 'noise'; readonly preface: boolean; readonly bytes: Uint8Array }
  /** gRPC frames that may be cut, of wrong length, or of no request at all. */
  | {
      readonly kind: 'frames';
      readonly variant: Variant;
      readonly headers: Readonly<Record<string, string>>;
      readonly frames: readonly Frame[];
      readonly reads: boolean;
      readonly end: End;
    }
  /** Valid requests in an absurd order. */
  | {
      readonly kind: 'requests';
      readonly variant: Variant;
      readonly asks: readonly Ask[];
      readonly end: End;
    }
  /** Streams that begin well, and then too much of something. */
  | { readonly kind: 'flood'; readonly of: Flood; readonly streams: number }
  /** Streams that begin well, and frames of HTTP/2 that may be no such thing. */
  | { readonly kind: 'broken'; readonly frames: readonly BrokenFrame[] };

interface BrokenFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
}

interface Frame {
  readonly message: Buffer;
  readonly compressed: number;
  /** What the frame says its length is; undefined: the truth. */
  readonly announced: number | undefined;
}

const CANCEL = Buffer.from([0, 0, 0, 8]);
const endpoint = { typeUrl: TYPE_URLS.endpoint };
const ONE_REQUEST = framed(
  encode(DISCOVERY.DeltaDiscoveryRequest, { ...endpoint, resourceNamesSubscribe: ['b'] }),
);
const ONE_NAME = framed(
  encode(DISCOVERY.DeltaDiscoveryRequest, {
    ...endpoint,
    resourceNamesSubscribe: Array.from({ length: 30_000 }, () => 'b'),
  }),
);

const variant = fc.constantFrom('sotw' as const, 'delta' as const);
const end = fc.constantFrom('finish' as const, 'cancel' as const, 'stay' as const);
const noise = fc.uint8Array({ maxLength: 300 });

const FLOODS = [
  /** Half a message, held open. */
  'half',
  /** The same in the smallest frames. */
  'crumbs',
  /** Streams that are taken back at once. */
  'reset',
  'ping',
  'settings',
  'empty data',
  /** One name that exists, over and over. */
  'one name',
  /** Calls of what is not served. */
  'unknown path',
] as const;

type Flood = (typeof FLOODS)[number];

const frame: fc.Arbitrary<Frame> = fc.record({
  message: fc.oneof(
    { weight: 4, arbitrary: mutated },
    { weight: 2, arbitrary: noise.map((each) => Buffer.from(each)) },
    { weight: 1, arbitrary: fc.nat({ max: 4_000_000 }).map((length) => Buffer.alloc(length, 0x1a)) },
  ),
  compressed: fc.constantFrom(0, 0, 0, 0, 1, 255),
  announced: fc.option(fc.oneof(fc.nat({ max: 5000 }), fc.constant(2 ** 32 - 1)), {
    nil: undefined,
    freq: 5,
  }),
});

const headers = fc.constantFrom<Readonly<Record<string, string>>[]>(
  {},
  {},
  { 'grpc-encoding': 'gzip' },
  { 'grpc-encoding': 'none of ours' },
  { 'grpc-timeout': '1m' },
  { 'grpc-timeout': '99999999H' },
  { 'grpc-timeout': 'soon' },
  { 'content-type': 'text/plain' },
  { ':path': '/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus' },
  { ':path': '*' },
  { ':method': 'GET' },
  { 'x-bin': '%%%' },
);

export const attack: fc.Arbitrary<Attack> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('noise' as const), preface: fc.boolean(), bytes: noise }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('frames' as const),
      variant,
      headers,
      frames: fc.array(frame, { maxLength: 4 }),
      reads: fc.boolean(),
      end,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('requests' as const),
      variant,
      asks: fc.array(ask, { maxLength: 25 }),
      end,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('flood' as const),
      of: fc.constantFrom(...FLOODS),
      streams: fc.integer({ min: 1, max: 5 }),
    }),
  },
);

/** Node stops reading after many of these and says nothing, so that only a ping finds out: they take their time. */
export const broken: fc.Arbitrary<Attack> = fc.record({
  kind: fc.constant('broken' as const),
  frames: fc.array(
    fc.record({
      type: fc.oneof(fc.nat({ max: 10 }), fc.nat({ max: 255 })),
      flags: fc.oneof(fc.constantFrom(0, 1, 4, 5, 8, 0x20), fc.nat({ max: 255 })),
      stream: fc.oneof(fc.nat({ max: 5 }), fc.constant(2 ** 31 - 1)),
      payload: fc.uint8Array({ maxLength: 40 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

/** @returns ends its connection; to be called when all attacks of a run have been carried out. */
export async function carryOut(of: Attack, door: Door): Promise<() => void> {
  switch (of.kind) {
    case 'noise':
      return makeNoise(of.bytes, of.preface, door);
    case 'frames':
      return sendFrames(of, door);
    case 'requests':
      return askAll(of, door);
    case 'flood':
      return flood(of, door);
    case 'broken':
      return breakHttp2(of, door);
  }
}

async function makeNoise(bytes: Uint8Array, preface: boolean, { address: { host, port } }: Door) {
  const socket = connect(port, host).resume();
  socket.on('error', () => undefined);
  if (preface) socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  socket.write(bytes);
  await turns(5);
  return () => {
    socket.destroy();
  };
}

async function sendFrames(of: Extract<Attack, { kind: 'frames' }>, door: Door) {
  const connection = connectionAt(door);
  const stream = connection.open(of.variant, of.headers);
  if (of.reads) stream.resume();
  for (const { message, compressed, announced } of of.frames) {
    if (!stream.destroyed && stream.writable) stream.write(framed(message, compressed, announced));
    await turns(2);
  }
  if (of.end === 'finish') stream.end();
  if (of.end === 'cancel') stream.close();
  await turns(5);
  return () => {
    connection.close();
  };
}

async function askAll(of: Extract<Attack, { kind: 'requests' }>, door: Door) {
  const client = clientAt(door);
  const stream = client.open('ads', of.variant);
  for (const each of of.asks) {
    stream.sendBytes(encodeAsk(of.variant, each, nonceOf(each, stream)));
    await turns(6);
  }
  if (of.end === 'finish') stream.finish();
  if (of.end === 'cancel') stream.cancel();
  await turns(5);
  return () => {
    client.close();
    stream.cancel();
  };
}

async function flood({ of, streams }: Extract<Attack, { kind: 'flood' }>, door: Door) {
  const connection = http2At(door);
  for (let i = 0; i < streams; i++) {
    const stream = connection.open();
    connection.data(stream, ONE_REQUEST);
    overdo(connection, stream, of);
    await turns(2);
  }
  await turns(5);
  return () => {
    connection.close();
  };
}

function overdo(connection: RawHttp2, stream: number, of: Flood): void {
  switch (of) {
    case 'half':
      connection.data(stream, framed(Buffer.alloc(100_000), 0, 200_000));
      break;
    case 'crumbs':
      connection.data(stream, framed(Buffer.alloc(2000), 0, 4000), 1);
      break;
    case 'reset':
      for (let i = 0; i < 100; i++) connection.send(FRAME.reset, 0, connection.open(), CANCEL);
      break;
    case 'ping':
      for (let i = 0; i < 500; i++) connection.send(FRAME.ping, 0, 0, Buffer.alloc(8));
      break;
    case 'settings':
      for (let i = 0; i < 500; i++) connection.send(FRAME.settings, 0, 0, Buffer.alloc(0));
      break;
    case 'empty data':
      for (let i = 0; i < 500; i++) connection.send(FRAME.data, 0, stream, Buffer.alloc(0));
      break;
    case 'one name':
      connection.data(stream, ONE_NAME);
      break;
    case 'unknown path':
      for (let i = 0; i < 50; i++) connection.open('/nothing');
      break;
  }
}

async function breakHttp2({ frames }: Extract<Attack, { kind: 'broken' }>, door: Door) {
  const connection = http2At(door);
  connection.data(connection.open(), ONE_REQUEST);
  await turns(2);
  for (const { type, flags, stream, payload } of frames) connection.send(type, flags, stream, payload);
  await turns(5);
  return () => {
    connection.close();
  };
}

function nonceOf({ nonce }: Ask, { responses }: XdsTestStream): string {
  switch (nonce) {
    case 'none':
      return '';
    case 'newest':
      return responses.at(-1)?.nonce ?? '';
    case 'oldest':
      return responses[0]?.nonce ?? '';
    case 'invented':
      return '4';
    case 'garbage':
      return '\0not a number'.repeat(100);
  }
}

/** Lets the event loop turn so many times: the server gets its share of it. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}
