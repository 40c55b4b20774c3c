import { age } from '../cells.ts';
import { type Connection, lostWords } from '../connection.ts';
import { clockTime } from './clock.ts';
import { byId, setAttribute, setText } from './dom.ts';

/** Whether what is shown is live, and since when it is not. */
export class ConnectionView {
  readonly #word = byId('connection', HTMLElement);
  readonly #banner = byId('lost', HTMLElement);
  #connection: Connection = { kind: 'connecting' };

  set connection(connection: Connection) {
    this.#connection = connection;
    document.documentElement.dataset['connection'] = connection.kind;
  }

  /** @param shownUpTo when the newest of what is shown was so, by the browser's clock; undefined: nothing is shown */
  render(shownUpTo: number | undefined): void {
    const now = Date.now();
    const connection = this.#connection;
    const lost = connection.kind === 'lost';
    this.#banner.hidden = !lost;
    if (lost) {
      const from = shownUpTo === undefined ? '' : ` What is below is of ${clockTime(shownUpTo)}.`;
      const calm = ' Sidecars keep the last weights, and requests go on.';
      setText(
        this.#banner,
        lostWords(connection, now, clockTime) + from + (shownUpTo === undefined ? '' : calm),
      );
    }
    setText(this.#word, words(connection, shownUpTo === undefined ? null : (now - shownUpTo) / 1000));
    setAttribute(this.#word, 'class', connection.kind);
  }
}

function words({ kind }: Connection, seconds: number | null): string {
  switch (kind) {
    case 'connecting':
      return 'connecting';
    case 'live':
      return seconds !== null && seconds > 6 ? `quiet for ${age(seconds)}` : 'live';
    case 'lost':
      return 'connection lost';
  }
}
