import { cut } from '../runtime/cut.ts';
import { renderLine, renderScreen, type View } from './screen.ts';

/** Where a demo shows itself. */
export interface Display {
  readonly write: (text: string) => void;
  /** The terminal's width at this moment; undefined: no terminal, plain lines instead of a screen. */
  readonly columns: number | undefined;
  readonly color: boolean;
}

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Draws views: on a terminal over each other on a screen of their own, elsewhere one line each. */
export class Painter {
  readonly #display: Display;
  #entered = false;

  constructor(display: Display) {
    this.#display = display;
  }

  paint(view: View): void {
    const { write, columns, color } = this.#display;
    if (columns === undefined) {
      write(`${renderLine(view)}\n`);
      return;
    }
    if (!this.#entered) write(ENTER);
    this.#entered = true;
    const lines = renderScreen(view, color, columns).map((line) => cut(line, columns) + CLEAR_LINE_END);
    write(`${HOME}${lines.join('\n')}\n${CLEAR_BELOW}`);
  }

  /** Something to keep: written under what was before the screen, which ends. */
  print(text: string): void {
    this.leave();
    this.#display.write(text);
  }

  leave(): void {
    if (this.#entered) this.#display.write(LEAVE);
    this.#entered = false;
  }
}
