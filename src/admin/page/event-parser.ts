/** One event of a `text/event-stream`. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Takes a `text/event-stream` apart, whose lines end in LF or CR LF, however the network has cut it. */
export class EventParser {
  #rest = '';
  #name = '';
  #data: string[] = [];

  /** The events that are complete now. */
  push(text: string): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#line((this.#rest + line).replace(/\r$/, ''));
      this.#rest = '';
      if (event !== undefined) events.push(event);
    }
    this.#rest += last;
    return events;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#name = value;
    else if (field === 'data') this.#data.push(value);
    return undefined;
  }

  #end(): ServerEvent | undefined {
    const event = { name: this.#name || 'message', data: this.#data.join('\n') };
    const empty = this.#data.length === 0;
    this.#name = '';
    this.#data = [];
    return empty ? undefined : event;
  }
}
