export interface ScannedResponse {
  readonly version: string;
  readonly nonce: string;
}

/** Both of `DiscoveryResponse` and of `DeltaDiscoveryResponse`. */
const FIELD = { version: 1, nonce: 5 } as const;
const PREFIX_BYTES = 5;

/**
 * Reads version and nonce of the gRPC messages of one stream. Takes the bytes as they come and keeps none of the
 * resources: the client must cost little beside the server.
 */
export class ResponseScanner {
  readonly #onResponse: (response: ScannedResponse) => void;
  #prefixLeft = PREFIX_BYTES;
  #messageLeft = 0;
  #contentLeft = 0;
  #field = 0;
  #inLength = false;
  #number = 0;
  #shift = 0;
  #version = '';
  #nonce = '';

  constructor(onResponse: (response: ScannedResponse) => void) {
    this.#onResponse = onResponse;
  }

  take(bytes: Buffer, start: number, end: number): void {
    let position = start;
    while (position < end) {
      if (this.#prefixLeft > 0) this.#prefix(bytes.readUInt8(position++));
      else if (this.#contentLeft > 0) position = this.#content(bytes, position, end);
      else this.#head(bytes.readUInt8(position++));
      if (this.#prefixLeft === 0 && this.#messageLeft === 0) this.#complete();
    }
  }

  #prefix(byte: number): void {
    this.#prefixLeft--;
    this.#messageLeft = this.#messageLeft * 256 + byte;
  }

  /** One byte of a tag or length. All fields that the servers send have a length. */
  #head(byte: number): void {
    this.#messageLeft--;
    this.#number += (byte & 0x7f) * 2 ** this.#shift;
    this.#shift += 7;
    if (byte >= 0x80) return;
    if (this.#inLength) this.#contentLeft = this.#number;
    else this.#field = this.#number >> 3;
    this.#inLength = !this.#inLength;
    this.#number = 0;
    this.#shift = 0;
  }

  #content(bytes: Buffer, start: number, end: number): number {
    const stop = Math.min(end, start + this.#contentLeft);
    if (this.#field === FIELD.version) this.#version += bytes.toString('latin1', start, stop);
    else if (this.#field === FIELD.nonce) this.#nonce += bytes.toString('latin1', start, stop);
    this.#contentLeft -= stop - start;
    this.#messageLeft -= stop - start;
    return stop;
  }

  #complete(): void {
    const response = { version: this.#version, nonce: this.#nonce };
    this.#prefixLeft = PREFIX_BYTES;
    this.#version = '';
    this.#nonce = '';
    this.#onResponse(response);
  }
}
