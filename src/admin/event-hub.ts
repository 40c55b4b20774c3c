import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { StateNews } from './live-state.ts';
import type { State } from './state-shape.ts';

/** At most one event in this time. */
const TICK_MS = 1_000;
/** Ticks without news after which the time alone is told. */
const SILENT_TICKS_MAX = 5;
/** A client that has not taken an event by then is dropped. */
const STALLED_MS = 10_000;

/** What is told. */
export interface EventSource {
  whole(): State;
  news(): StateNews;
}

interface Listener {
  readonly response: ServerResponse;
  /** Since when it has had more to take than its socket does; undefined: it has taken all. */
  stalledSinceMs: number | undefined;
  /** It missed something, and is told the whole when it is ready. */
  missed: boolean;
}

/**
 * Tells many clients what happens, each event put into bytes once. While there is none it does nothing at all. For a
 * client that reads slowly nothing is queued: it gets the newest state when it is ready, or is dropped.
 */
export class EventHub {
  readonly #source: EventSource;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #listeners = new Set<Listener>();
  #cancelTick: (() => void) | undefined;
  #silentTicks = 0;
  #id = 0;
  /** The whole state as of after the last tick, and at most a second ago. */
  #whole: { readonly bytes: Buffer; readonly atMs: number } | undefined;

  /** @param options.limit clients at a time. */
  constructor(options: { readonly source: EventSource; readonly clock: Clock; readonly limit: number }) {
    this.#source = options.source;
    this.#clock = options.clock;
    this.#limit = options.limit;
  }

  /** Whether there is no room for one more client. */
  get isFull(): boolean {
    return this.#listeners.size >= this.#limit;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** The JSON of the state, at most a second old: whoever asks more often costs nothing more. */
  get stateJson(): Buffer {
    const nowMs = this.#clock.now();
    if (this.#whole === undefined || nowMs - this.#whole.atMs >= TICK_MS) {
      this.#whole = { bytes: Buffer.from(JSON.stringify(this.#source.whole())), atMs: nowMs };
    }
    return this.#whole.bytes;
  }

  /** Tells a client from now on, whose headers have been written, until it goes. */
  add(response: ServerResponse): void {
    const listener: Listener = { response, stalledSinceMs: undefined, missed: false };
    this.#listeners.add(listener);
    response.once('close', () => {
      this.#forget(listener);
    });
    response.on('drain', () => {
      listener.stalledSinceMs = undefined;
    });
    response.on('error', () => undefined);
    response.write('retry: 1000\n\n');
    this.#write(listener, event('state', ++this.#id, this.stateJson));
    this.#cancelTick ??= this.#schedule();
  }

  /** Ends all; none must be added afterwards. */
  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    for (const { response } of this.#listeners) response.end();
    this.#listeners.clear();
  }

  #forget(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.#whole = undefined;
  }

  #schedule(): () => void {
    return this.#clock.schedule(TICK_MS, () => {
      this.#cancelTick = this.#schedule();
      this.#tick();
    });
  }

  #tick(): void {
    this.#dropStalled();
    const told = this.#tell();
    const missed = [...this.#listeners].filter((of) => of.missed && of.stalledSinceMs === undefined);
    if (missed.length === 0 || told === 'state') return;
    const bytes = event('state', this.#id, this.stateJson);
    for (const listener of missed) {
      listener.missed = false;
      this.#write(listener, bytes);
    }
  }

  /** What has happened, to all who can take it and have missed nothing. */
  #tell(): StateNews['kind'] | 'nothing' {
    const news = this.#source.news();
    if (news.kind === 'state') {
      this.#whole = { bytes: Buffer.from(JSON.stringify(news.state)), atMs: this.#clock.now() };
      this.#broadcast(event('state', ++this.#id, this.#whole.bytes), true);
      return 'state';
    }
    // who comes now must not be told of a time before it
    this.#whole = undefined;
    const isSilent = Object.keys(news.change).length === 1;
    this.#silentTicks = isSilent ? this.#silentTicks + 1 : 0;
    if (isSilent && this.#silentTicks < SILENT_TICKS_MAX) return 'nothing';
    this.#silentTicks = 0;
    this.#broadcast(event('change', ++this.#id, Buffer.from(JSON.stringify(news.change))), false);
    return 'change';
  }

  /** @param isWhole nothing before it matters */
  #broadcast(bytes: Buffer, isWhole: boolean): void {
    for (const listener of this.#listeners) {
      if (listener.stalledSinceMs !== undefined) listener.missed = true;
      else if (isWhole || !listener.missed) {
        listener.missed = false;
        this.#write(listener, bytes);
      }
    }
  }

  #write(listener: Listener, bytes: Buffer): void {
    if (!listener.response.write(bytes)) listener.stalledSinceMs = this.#clock.now();
  }

  #dropStalled(): void {
    const nowMs = this.#clock.now();
    for (const { response, stalledSinceMs } of this.#listeners) {
      if (nowMs - (stalledSinceMs ?? nowMs) > STALLED_MS) response.destroy();
    }
  }
}

function event(name: StateNews['kind'], id: number, json: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`id: ${id}\nevent: ${name}\ndata: `), json, Buffer.from('\n\n')]);
}
