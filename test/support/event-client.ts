import { mergeChange } from '../../src/admin/page/merge-change.ts';
import type { State, StateChange } from '../../src/admin/state-shape.ts';
import { eventsOf } from '../../src/commands/event-stream.ts';
import { waitFor } from './wait-for.ts';

/** Follows `/events` of an admin address. */
export class EventClient {
  /** Names of the events so far. */
  readonly names: string[] = [];
  /** All that is known. */
  state: State | undefined;
  latest: StateChange | undefined;
  /** Why it ended; undefined: it goes on. */
  ended: string | undefined;
  readonly #end = new AbortController();

  constructor(origin: string) {
    void this.#follow(new URL(origin));
  }

  /** Waits until what is known is so. */
  until(what: string, holds: (state: State) => boolean): Promise<State> {
    return waitFor(what, () => this.state !== undefined && holds(this.state) && this.state);
  }

  close(): void {
    this.#end.abort();
  }

  async #follow(url: URL): Promise<void> {
    try {
      for await (const { name, data } of eventsOf(
        { url, ca: undefined, token: undefined },
        this.#end.signal,
      )) {
        this.names.push(name);
        if (name === 'state') this.state = JSON.parse(data) as State;
        else if (this.state !== undefined) {
          this.latest = JSON.parse(data) as StateChange;
          this.state = mergeChange(this.state, this.latest);
        }
      }
      this.ended = 'the server ended it';
    } catch (error) {
      this.ended = String(error);
    }
  }
}
