import { type Connection, retryAfterMs } from '../connection.ts';
import { EventParser, type ServerEvent } from '../event-parser.ts';
import { askAdmin } from './ask-admin.ts';

/** Something comes every 5 s. */
const SILENCE_MS = 12_000;

type Chunks = ReadableStreamDefaultReader<string>;

/** Follows `/events`, for ever: it comes again when the connection is lost. */
export class EventFollower {
  readonly #onEvent: (event: ServerEvent) => void;
  readonly #onConnection: (connection: Connection) => void;
  #wake = (): void => undefined;

  constructor(onEvent: (event: ServerEvent) => void, onConnection: (connection: Connection) => void) {
    this.#onEvent = onEvent;
    this.#onConnection = onConnection;
    window.addEventListener('online', () => this.#wake());
  }

  async run(): Promise<never> {
    let attempts = 0;
    let since = 0;
    for (;;) {
      const abort = new AbortController();
      const stream = await this.#open(abort);
      let reason = typeof stream === 'string' ? stream : 'it closed the stream';
      if (typeof stream !== 'string') {
        attempts = 0;
        reason = await this.#follow(stream, abort);
      }
      abort.abort();
      if (attempts === 0) since = Date.now();
      attempts++;
      const delay = retryAfterMs(attempts);
      this.#onConnection({ kind: 'lost', since, reason, retryAt: Date.now() + delay });
      await this.#wait(delay);
    }
  }

  /** What comes; a text: why there is nothing. */
  async #open(abort: AbortController): Promise<Chunks | string> {
    const timer = setTimeout(() => abort.abort(), SILENCE_MS);
    const response = await askAdmin('events', abort.signal).catch(() => undefined);
    clearTimeout(timer);
    if (response === undefined) return 'it cannot be reached';
    if (response.status === 401) return 'it wants another token: load the page again';
    if (!response.ok || response.body === null) return `it answered ${response.status}`;
    return response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Resolves with why it ended. */
  async #follow(chunks: Chunks, abort: AbortController): Promise<string> {
    const parser = new EventParser();
    for (;;) {
      const timer = setTimeout(() => abort.abort(), SILENCE_MS);
      const chunk = await chunks.read().catch(() => undefined);
      clearTimeout(timer);
      if (chunk === undefined) return abort.signal.aborted ? 'it has been silent' : 'it broke off';
      if (chunk.done) return 'it closed the stream';
      const events = parser.push(chunk.value);
      if (events.length > 0) this.#onConnection({ kind: 'live' });
      for (const event of events) this.#onEvent(event);
    }
  }

  /** Until then, or until there is a network again. */
  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
