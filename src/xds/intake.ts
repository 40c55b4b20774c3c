/** Beyond its content a message may take so many: its head, a frame, a TLS record. */
const MESSAGE_BYTES = 64;

/**
 * And one more for each so many of what comes, as it takes more frames then, and of what is sent, as the client has to
 * open its window again: 64 bytes for each 16 KiB.
 */
const BYTES_PER_FRAME_BYTE = 256;

/** What a connection may send besides: answers to pings. */
const BYTES_PER_SECOND = 64;

/** A connection that owes no more is as good as one that owes nothing. */
const NOTHING_BYTES = 16 * 1024;

/**
 * What a connection has sent without a request to show for it. Of half a message HTTP/2 keeps every frame until the
 * rest comes, and a frame of one byte costs a hundred; calls of what is not served, pings and other noise keep the
 * processor busy. All of it is bytes of which no message has become: those the connection owes.
 */
export class Intake {
  #readBytes: number;
  #creditBytes = 0;
  #owedBytes = 0;
  #owingSinceMs: number | undefined;
  #lookedAtMs: number;

  /** @param readBytes of the connection so far. */
  constructor(readBytes: number, nowMs: number) {
    this.#readBytes = readBytes;
    this.#lookedAtMs = nowMs;
  }

  /** As of the last look. */
  get owedBytes(): number {
    return this.#owedBytes;
  }

  /** Since when there was more at each look than next to nothing. */
  get owingSinceMs(): number | undefined {
    return this.#owingSinceMs;
  }

  /** A whole message came. */
  received(bytes: number): void {
    this.#creditBytes += bytes + bytes / BYTES_PER_FRAME_BYTE + MESSAGE_BYTES;
  }

  sent(bytes: number): void {
    this.#creditBytes += bytes / BYTES_PER_FRAME_BYTE;
  }

  /** Nothing of what had come at the last look is kept any more. */
  settle(): void {
    this.#owedBytes = 0;
    this.#owingSinceMs = undefined;
  }

  /** To be called now and then. @param readBytes of the connection so far. */
  look(readBytes: number, nowMs: number): void {
    const spared = this.#creditBytes + ((nowMs - this.#lookedAtMs) / 1000) * BYTES_PER_SECOND;
    this.#owedBytes = Math.max(0, this.#owedBytes + readBytes - this.#readBytes - spared);
    this.#readBytes = readBytes;
    this.#creditBytes = 0;
    this.#lookedAtMs = nowMs;
    if (this.#owedBytes <= NOTHING_BYTES) this.#owingSinceMs = undefined;
    else this.#owingSinceMs ??= nowMs;
  }
}
