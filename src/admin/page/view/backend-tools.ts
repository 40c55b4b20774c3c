import { counted, integer } from '../cells.ts';
import type { Row, RowState } from '../rows.ts';
import { element, setAttribute, setText } from './dom.ts';

/** What somebody may want to see alone. */
const CHOICES: readonly RowState[] = ['unhealthy', 'silent', 'draining', 'out'];

/** What stands above the table: the filter, what else there is to see, and how many are shown. */
export class BackendTools {
  readonly root: HTMLElement;
  readonly field = element('input', {
    type: 'search',
    placeholder: 'filter: address, state, reason',
    'aria-label': 'Filter the backends',
    'aria-keyshortcuts': '/',
    spellcheck: 'false',
  });
  readonly #note = element('span', { class: 'muted', role: 'status' });
  readonly #choices: readonly { readonly state: RowState; readonly button: HTMLButtonElement }[];
  readonly #onFilter: () => void;

  /** @param onFilter another filter is set */
  constructor(onFilter: () => void) {
    this.#onFilter = onFilter;
    this.#choices = CHOICES.map((state) => ({ state, button: this.#makeChoice(state) }));
    const buttons = this.#choices.map(({ button }) => button);
    this.root = element('div', { class: 'tools' }, this.field, ...buttons, this.#note);
    this.field.addEventListener('input', onFilter);
  }

  get filter(): string {
    return this.field.value;
  }

  set filter(text: string) {
    this.field.value = text;
    this.#onFilter();
  }

  /** @param held the order is not found anew */
  render(all: readonly Row[], shown: number, held: boolean): void {
    const many = counted(all.length, 'backend');
    const found = shown === all.length ? many : `${integer(shown)} of ${many}`;
    setText(this.#note, held ? `${found}; the order is held while you are here` : found);
    for (const { state, button } of this.#choices) {
      const count = all.filter((row) => row.state === state).length;
      button.hidden = count === 0 && this.filter !== state;
      setText(button, `${integer(count)} ${state}`);
      setAttribute(button, 'aria-pressed', String(this.filter === state));
    }
  }

  #makeChoice(state: RowState): HTMLButtonElement {
    const button = element('button', { type: 'button', class: 'choice', hidden: '' });
    button.addEventListener('click', () => {
      this.filter = this.filter === state ? '' : state;
    });
    return button;
  }
}
