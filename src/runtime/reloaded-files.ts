import type { Clock } from './clock.ts';
import { FileWatch } from './file-watch.ts';

/** Files that are bad may be half written: only what is still the same after this long is complained about. */
const SETTLE_MS = 1_000;

/** What was made of the files. `digest` differs whenever any of them does. */
export type FilesRead<Value> =
  | { readonly kind: 'good'; readonly digest: string; readonly value: Value }
  | { readonly kind: 'bad'; readonly digest: string; readonly reason: string };

/** Is told what happens to the files. */
export interface FilesObserver<Value> {
  /** These are in force from now on. */
  taken(value: Value): void;
  /** New ones were refused; those from before stay in force. Each is told once. */
  refused(reason: string): void;
  /** They were looked at and are good; this is in force. */
  confirmed?(value: Value): void;
}

/** Files that are read again whenever they change. Those that are bad change nothing: that is told once. */
export class ReloadedFiles<Value> {
  readonly #paths: readonly string[];
  readonly #read: () => Promise<FilesRead<Value>>;
  readonly #whyNot: (next: Value, current: Value | undefined) => string | undefined;
  readonly #clock: Clock;
  readonly #observer: FilesObserver<Value>;
  #watch: FileWatch | undefined;
  #cancelSettling: (() => void) | undefined;
  #current: { readonly digest: string; readonly value: Value } | undefined;
  /** The digest of bad files that may be half written. */
  #suspect = '';
  #suspectSinceMs = 0;
  /** The digest of files that were refused for good. */
  #refused = '';
  #checks = Promise.resolve();
  #closed = false;

  constructor(options: {
    readonly paths: readonly string[];
    /** Never rejects. */
    readonly read: () => Promise<FilesRead<Value>>;
    /** Why good files shall not replace those in force. Default: they always may. */
    readonly whyNot?: (next: Value, current: Value | undefined) => string | undefined;
    readonly clock: Clock;
    readonly observer: FilesObserver<Value>;
  }) {
    this.#paths = options.paths;
    this.#read = options.read;
    this.#whyNot = options.whyNot ?? (() => undefined);
    this.#clock = options.clock;
    this.#observer = options.observer;
  }

  /**
   * Reads the files, and watches them until {@link close}. Good ones are in force whatever {@link whyNot} says.
   * @returns why they are bad; undefined: they are good.
   */
  async open(): Promise<string | undefined> {
    const first = this.#read();
    this.#checks = first.then(() => undefined);
    this.#watch = new FileWatch({
      paths: this.#paths,
      clock: this.#clock,
      onChange: () => {
        this.#check();
      },
    });
    const read = await first;
    if (this.#closed) return undefined;
    if (read.kind === 'bad') {
      this.#refused = read.digest;
      return read.reason;
    }
    this.#take(read);
    this.#observer.confirmed?.(read.value);
    return undefined;
  }

  /** Resolves when the checks that have begun are done. */
  async settled(): Promise<void> {
    await this.#watch?.settled();
    await this.#checks;
  }

  /** Resolves when the files are not being read any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    this.#cancelSettling?.();
    await this.#checks;
  }

  /** One after the other, however they come. */
  #check(): void {
    this.#checks = this.#checks.then(async () => {
      const read = await this.#read();
      if (!this.#closed) this.#judge(read);
    });
  }

  #judge(read: FilesRead<Value>): void {
    if (read.kind === 'bad') {
      this.#refuse(read.digest, read.reason);
      return;
    }
    const isNew = read.digest !== this.#current?.digest;
    const reason = isNew ? this.#whyNot(read.value, this.#current?.value) : undefined;
    if (reason !== undefined) {
      this.#refuse(read.digest, reason);
      return;
    }
    if (isNew) this.#take(read);
    this.#cancelSettling?.();
    this.#suspect = '';
    this.#refused = '';
    if (this.#current !== undefined) this.#observer.confirmed?.(this.#current.value);
  }

  #take({ digest, value }: { readonly digest: string; readonly value: Value }): void {
    this.#current = { digest, value };
    this.#observer.taken(value);
  }

  #refuse(digest: string, reason: string): void {
    if (digest === this.#refused) return;
    const nowMs = this.#clock.now();
    if (digest !== this.#suspect) {
      this.#suspect = digest;
      this.#suspectSinceMs = nowMs;
      this.#cancelSettling?.();
      this.#cancelSettling = this.#clock.schedule(SETTLE_MS, () => {
        this.#check();
      });
    }
    if (nowMs - this.#suspectSinceMs < SETTLE_MS) return;
    this.#refused = digest;
    this.#observer.refused(reason);
  }
}
