import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { ListenAddress } from '../../../src/core/model.ts';
import { framed, RawConnection } from '../raw-grpc.ts';
import { XdsClient, type XdsTestStream } from '../xds-client.ts';
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
    };

interface Frame {
  readonly message: Buffer;
  readonly compressed: number;
  /** What the frame says its length is; undefined: the truth. */
  readonly announced: number | undefined;
}

const variant = fc.constantFrom('sotw' as const, 'delta' as const);
const end = fc.constantFrom('finish' as const, 'cancel' as const, 'stay' as const);
const noise = fc.uint8Array({ maxLength: 300 });

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
);

/** @returns ends its connection; to be called when all attacks of a run have been carried out. */
export async function carryOut(of: Attack, address: ListenAddress): Promise<() => void> {
  switch (of.kind) {
    case 'noise':
      return makeNoise(of.bytes, of.preface, address);
    case 'frames':
      return sendFrames(of, address);
    case 'requests':
      return askAll(of, address);
  }
}

async function makeNoise(bytes: Uint8Array, preface: boolean, { host, port }: ListenAddress) {
  const socket = connect(port, host).resume();
  socket.on('error', () => undefined);
  if (preface) socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
  socket.write(bytes);
  await turns(5);
  return () => {
    socket.destroy();
  };
}

async function sendFrames(of: Extract<Attack, { kind: 'frames' }>, address: ListenAddress) {
  const connection = new RawConnection(address);
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

async function askAll(of: Extract<Attack, { kind: 'requests' }>, address: ListenAddress) {
  const client = new XdsClient(address);
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
