/** Most pages fit. */
const FIRST_BYTES = 64 * 1024;
/** So many buffers of that size are kept for the next pages. */
const KEPT_MAX = 64;

const kept: Buffer[] = [];
const NONE = Buffer.alloc(0);

/**
 * Puts together a page that comes in pieces. Its memory is used again for the pages of other backends: as garbage, 40 kB
 * for each backend each second, it would cost more than all the rest of a collection.
 */
export class PageBuffer {
  #buffer = kept.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
  #length = 0;

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.bytes);
      this.free();
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** What has been added; valid until {@link free}. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Nothing is to be added or read any more. Harmless when it has been called before. */
  free(): void {
    if (this.#buffer.length === FIRST_BYTES && kept.length < KEPT_MAX) kept.push(this.#buffer);
    this.#buffer = NONE;
  }
}
