import { write } from 'node:fs';

/** What waits to be written; a line that comes on top of it is dropped. */
const WAITING_CHARACTERS_MAX = 1024 * 1024;

/** Until a non-blocking descriptor that takes nothing at the moment is tried again. */
const BUSY_MS = 100;

/**
 * Writes lines to a file descriptor without ever blocking or failing: what cannot be written, as on a full disk or to
 * a reader that is stuck, is lost. A process does not end before its last lines are written or lost.
 */
export class LogSink {
  readonly #fd: number;
  #waiting = '';
  #writing = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > WAITING_CHARACTERS_MAX) return;
    this.#waiting += line;
    this.#pump();
  }

  #pump(): void {
    if (this.#writing || this.#waiting === '') return;
    this.#writing = true;
    this.#writeAll(Buffer.from(this.#waiting));
    this.#waiting = '';
  }

  #writeAll(bytes: Buffer): void {
    write(this.#fd, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => {
          this.#writeAll(bytes);
        }, BUSY_MS);
        return;
      }
      if (error === null && written < bytes.length) {
        this.#writeAll(bytes.subarray(written));
        return;
      }
      this.#writing = false;
      this.#pump();
    });
  }
}
