import { emitKeypressEvents } from 'node:readline';
import type { Key } from './top-model.ts';

/** What a terminal's standard output is. */
export interface TerminalOutput {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** And its standard input. */
export type TerminalInput = NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };

/** Its other screen, no cursor, and no new line where a character is wider than it was counted. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE_END = '\u001b[K';

/** A terminal's whole screen, and its keys. Whatever was on it before is there again afterwards. */
export class Terminal {
  readonly #output: TerminalOutput;
  readonly #input: TerminalInput | undefined;
  readonly #onKey: (text: string | undefined, key: Key) => void;
  readonly #onResize: () => void;
  readonly #onExit = (): void => {
    this.#output.write(LEAVE);
  };
  #painted = '';

  /** Takes the terminal over. @param options.input undefined: there are no keys */
  constructor(options: {
    readonly output: TerminalOutput;
    readonly input: TerminalInput | undefined;
    readonly onKey: (key: Key) => void;
    readonly onResize: () => void;
  }) {
    this.#output = options.output;
    this.#input = options.input;
    this.#onKey = (text, key) => {
      options.onKey({ ...key, sequence: key.sequence ?? text });
    };
    this.#onResize = () => {
      this.#painted = '';
      options.onResize();
    };
    this.#output.write(ENTER);
    this.#output.on('resize', this.#onResize);
    if (this.#input !== undefined) {
      emitKeypressEvents(this.#input);
      this.#input.setRawMode?.(true);
      this.#input.on('keypress', this.#onKey).resume();
    }
    process.once('exit', this.#onExit);
  }

  get columns(): number {
    return Math.max(1, this.#output.columns);
  }

  get rows(): number {
    return Math.max(1, this.#output.rows);
  }

  /** @param lines as many as there are rows, none wider than the columns. */
  paint(lines: readonly string[]): void {
    const text = `${HOME}${lines.map((line) => line + CLEAR_LINE_END).join('\r\n')}`;
    if (text === this.#painted) return;
    this.#painted = text;
    this.#output.write(text);
  }

  leave(): void {
    process.off('exit', this.#onExit);
    this.#output.off('resize', this.#onResize);
    if (this.#input !== undefined) {
      this.#input.off('keypress', this.#onKey).pause();
      this.#input.setRawMode?.(false);
    }
    this.#output.write(LEAVE);
  }
}
