import { isUtf8 } from 'node:buffer';

/** https://protobuf.dev/programming-guides/encoding/#structure */
const WIRE = { varint: 0, fixed64: 1, lengthDelimited: 2, fixed32: 5 } as const;
const LONGEST_VARINT = 10;
const LARGEST_TAG = 2 ** 32 - 1;

/**
 * Walks over the fields of one encoded protobuf message: `while (reader.next()) switch (reader.field) …`, with one
 * reading call for each field. The first fault ends the walk and stands in `failure`; what was read until then is
 * not to be used.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #position: number;
  #end: number;
  #wireType = 0;
  #low = 0;
  #failure: string | undefined;
  /** The number of the current field. */
  field = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#position = start;
    this.#end = end;
  }

  /** What is wrong with the message; undefined: nothing so far. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Goes to the next field; `false` at the end of the message and after a fault. */
  next(): boolean {
    if (this.#position >= this.#end) return false;
    const tag = this.#varint();
    if (this.#failure !== undefined) return false;
    this.field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    if (this.field === 0 || tag > LARGEST_TAG) this.#fail(`${tag} is no field tag`);
    return this.#failure === undefined;
  }

  /** Passes over the current field, whatever it holds. */
  skip(): void {
    switch (this.#wireType) {
      case WIRE.varint:
        this.#varint();
        break;
      case WIRE.fixed64:
        this.#take(8);
        break;
      case WIRE.lengthDelimited:
        this.#take(this.#varint());
        break;
      case WIRE.fixed32:
        this.#take(4);
        break;
      default:
        this.#fail(`field ${this.field} has the wire type ${this.#wireType}`);
    }
  }

  string(): string {
    const { start, end } = this.#span();
    const text = this.#bytes.toString('utf8', start, end);
    // what cannot be decoded becomes U+FFFD, which a text may also hold
    if (text.includes('\ufffd') && !isUtf8(this.#bytes.subarray(start, end))) {
      this.#fail(`field ${this.field} is not UTF-8`);
    }
    return this.#failure === undefined ? text : '';
  }

  /** The first `limit` bytes of a text; a character that the cut splits, or that is broken, becomes U+FFFD. */
  textCutAt(limit: number): string {
    const { start, end } = this.#span();
    return this.#bytes.toString('utf8', start, Math.min(end, start + limit));
  }

  int32(): number {
    if (this.#wireType !== WIRE.varint) this.#fail(`field ${this.field} is no number`);
    this.#varint();
    return this.#low;
  }

  /** Reads the current field as a message with `read`; a fault in it is a fault of this message. */
  message<T>(read: (reader: WireReader) => T): T {
    const { start, end } = this.#span();
    const nested = new WireReader(this.#bytes, start, end);
    const value = read(nested);
    if (nested.failure !== undefined) this.#fail(`field ${this.field}: ${nested.failure}`);
    return value;
  }

  #span(): { readonly start: number; readonly end: number } {
    if (this.#wireType !== WIRE.lengthDelimited) this.#fail(`field ${this.field} has no length`);
    const start = this.#take(this.#varint());
    return { start, end: this.#failure === undefined ? this.#position : start };
  }

  /** @returns where the bytes begin. */
  #take(length: number): number {
    const start = this.#position;
    if (length > this.#end - start) this.#fail(`field ${this.field} is longer than the message`);
    else this.#position += length;
    return start;
  }

  /** Exact up to 2^53, which is beyond every length; `#low` has the lowest 32 bits. */
  #varint(): number {
    let value = 0;
    let scale = 1;
    this.#low = 0;
    for (let i = 0; i < LONGEST_VARINT; i++) {
      const byte = this.#position < this.#end ? this.#bytes[this.#position++] : undefined;
      if (byte === undefined) {
        this.#fail('it ends within a number');
        return 0;
      }
      if (i < 5) this.#low |= (byte & 0x7f) << (7 * i);
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    this.#fail(`a number is longer than ${LONGEST_VARINT} bytes`);
    return 0;
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#position = this.#end;
  }
}

/** Encoded bytes in pieces, so that what is long is copied only once, at the end. */
export type Pieces = readonly Uint8Array[];

/** A field that has a length: a text, bytes, or a message given by the pieces of its fields. Numbers up to 15. */
export function lengthDelimited(field: number, content: string | Pieces): Pieces {
  const pieces = typeof content === 'string' ? [Buffer.from(content, 'utf8')] : content;
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  return [Buffer.from([(field << 3) | WIRE.lengthDelimited, ...varint(length)]), ...pieces];
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return bytes;
}
