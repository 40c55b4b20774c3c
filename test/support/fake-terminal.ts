import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';

/** A terminal's screen, as far as a program that paints whole frames needs one, and its keyboard. */
export class FakeTerminal extends EventEmitter {
  columns: number;
  rows: number;
  /** All that was written. */
  written = '';
  readonly raw: boolean[] = [];
  readonly input = Object.assign(new PassThrough(), {
    setRawMode: (on: boolean): void => {
      this.raw.push(on);
    },
  });

  constructor(columns = 120, rows = 24) {
    super();
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    this.written += text;
  }

  /** The lines of the latest frame, without colours. */
  get lines(): readonly string[] {
    const frame = this.written.slice(this.written.lastIndexOf('\u001b[H') + 3);
    return stripVTControlCharacters(frame).split('\r\n');
  }

  get text(): string {
    return this.lines.join('\n');
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.emit('resize');
  }

  press(...keys: readonly string[]): void {
    for (const key of keys) this.input.write(key);
  }
}
