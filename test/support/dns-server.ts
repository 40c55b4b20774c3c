import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  type Answer,
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
  type SrvData,
  TRUNCATED_RESPONSE,
} from 'dns-packet';

/** Codes of RFC 1035 §4.1.1. */
const RCODES = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

/** What a name and type are answered with. */
export type DnsReply =
  /** `truncated`: over UDP, or over TCP as well; without it as the size asks for. */
  | {
      readonly kind: 'records';
      readonly records: readonly Answer[];
      readonly truncated?: 'udp' | 'always';
      readonly delayMs?: number;
    }
  | { readonly kind: 'code'; readonly code: keyof typeof RCODES }
  | { readonly kind: 'drop' }
  /** Too long for UDP, and silence over TCP. */
  | { readonly kind: 'no-tcp' }
  | { readonly kind: 'bytes'; readonly bytes: (question: Buffer) => Buffer };

export type DnsType = 'A' | 'AAAA' | 'SRV';

/** UDP without EDNS, RFC 1035 §4.2.1. */
const UDP_BYTES = 512;

/**
 * A DNS server on UDP and TCP of one port of 127.0.0.1. A name that is known to it with another type has no data; one
 * that is not does not exist.
 */
export class DnsServer {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  /** `udp A vllm.test`: what was asked for so far, in the order of its coming. */
  readonly queries: string[] = [];
  /** Answers everything, whatever the records say. */
  always: DnsReply | undefined;
  readonly #replies = new Map<string, DnsReply>();
  readonly #tcp: Server;
  readonly #udp: UdpSocket;
  readonly #sockets = new Set<Socket>();
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(tcp: Server, udp: UdpSocket) {
    this.#tcp = tcp;
    this.#udp = udp;
    this.address = `127.0.0.1:${(tcp.address() as AddressInfo).port}`;
    udp.on('message', (message, from) => {
      this.#answer('udp', message, (bytes) => {
        udp.send(bytes, from.port, from.address);
      });
    });
    tcp.on('connection', (socket) => {
      this.#serve(socket);
    });
  }

  static async start(): Promise<DnsServer> {
    for (let attempt = 0; ; attempt++) {
      const tcp = createServer();
      await new Promise<void>((resolve) => {
        tcp.listen(0, '127.0.0.1', resolve);
      });
      const udp = createSocket('udp4');
      try {
        await new Promise<void>((resolve, reject) => {
          udp.once('error', reject);
          udp.bind((tcp.address() as AddressInfo).port, '127.0.0.1', resolve);
        });
        return new DnsServer(tcp, udp);
      } catch (error) {
        // the kernel's choice for TCP may be taken for UDP
        tcp.close();
        udp.close();
        if (attempt === 9) throw error;
      }
    }
  }

  set(name: string, type: DnsType, reply: DnsReply): void {
    this.#replies.set(`${type} ${name}`, reply);
  }

  /** The addresses of a name, of both families; those of the other kind have no data. */
  addresses(name: string, list: readonly string[], ttl = 1): void {
    for (const type of ['A', 'AAAA'] as const) {
      const records = list
        .filter((address) => address.includes(':') === (type === 'AAAA'))
        .map((data): Answer => ({ type, name, ttl, data }));
      this.set(name, type, { kind: 'records', records });
    }
  }

  services(name: string, list: readonly SrvData[], ttl = 1): void {
    const records = list.map((data): Answer => ({ type: 'SRV', name, ttl, data }));
    this.set(name, 'SRV', { kind: 'records', records });
  }

  /** The name does not exist any more. */
  remove(name: string): void {
    for (const type of ['A', 'AAAA', 'SRV']) this.#replies.delete(`${type} ${name}`);
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#tcp.close(resolve);
    });
    await new Promise<void>((resolve) => {
      this.#udp.close(resolve);
    });
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const message = received.subarray(2, end);
        received = received.subarray(end);
        this.#answer('tcp', message, (bytes) => {
          const length = Buffer.alloc(2);
          length.writeUInt16BE(bytes.length);
          socket.write(Buffer.concat([length, bytes]));
        });
      }
    });
  }

  #answer(over: 'udp' | 'tcp', message: Buffer, send: (bytes: Buffer) => void): void {
    const query = decode(message);
    const question = query.questions?.[0];
    if (question === undefined) return;
    this.queries.push(`${over} ${question.type} ${question.name}`);
    const reply = this.always ?? this.#replyTo(question.type, question.name.toLowerCase());
    if (reply.kind === 'drop' || (reply.kind === 'no-tcp' && over === 'tcp')) return;
    const bytes = reply.kind === 'bytes' ? reply.bytes(message) : answerTo(query, reply, over);
    const delayMs = reply.kind === 'records' ? (reply.delayMs ?? 0) : 0;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      send(bytes);
    }, delayMs);
    this.#timers.add(timer);
  }

  #replyTo(type: string, name: string): DnsReply {
    const isKnown = [...this.#replies.keys()].some((key) => key.slice(key.indexOf(' ') + 1) === name);
    const none: DnsReply = isKnown ? { kind: 'records', records: [] } : { kind: 'code', code: 'NXDOMAIN' };
    return this.#replies.get(`${type} ${name}`) ?? none;
  }
}

function answerTo(
  query: Packet,
  reply: Extract<DnsReply, { kind: 'records' | 'code' | 'no-tcp' }>,
  over: 'udp' | 'tcp',
): Buffer {
  const answers = reply.kind === 'records' ? reply.records : [];
  const code = reply.kind === 'code' ? RCODES[reply.code] : RCODES.NOERROR;
  const packet = (isCut: boolean): Buffer =>
    encode({
      type: 'response',
      id: query.id,
      flags:
        AUTHORITATIVE_ANSWER |
        RECURSION_DESIRED |
        RECURSION_AVAILABLE |
        (isCut ? TRUNCATED_RESPONSE : 0) |
        code,
      questions: query.questions,
      answers: isCut ? [] : [...answers],
    });
  const whole = packet(false);
  if (reply.kind === 'no-tcp') return packet(true);
  const truncated = reply.kind === 'records' ? reply.truncated : undefined;
  const isTooLong = over === 'udp' && whole.length > UDP_BYTES;
  return isTooLong || truncated === 'always' || (truncated === 'udp' && over === 'udp')
    ? packet(true)
    : whole;
}
