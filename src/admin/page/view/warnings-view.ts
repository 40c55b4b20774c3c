import { allWarnings } from '../group-summary.ts';
import type { State } from '../../state-shape.ts';
import { element, Memo } from './dom.ts';

const SHOWN_MAX = 30;

/** What to look at, and what to do about it. */
export class WarningsView {
  readonly #root: HTMLElement;
  readonly #memo = new Memo();
  readonly #onGroup: (name: string) => void;

  /** @param onGroup the operator wants to see this group */
  constructor(root: HTMLElement, onGroup: (name: string) => void) {
    this.#root = root;
    this.#onGroup = onGroup;
  }

  render(state: State): void {
    const warnings = allWarnings(state);
    const many = state.groups.length > 1;
    this.#memo.update(JSON.stringify([many, warnings]), () => {
      const items = warnings.slice(0, SHOWN_MAX).map(({ group, text, remedy }) => {
        const about = group === undefined || !many ? [] : [this.#groupButton(group), ' '];
        const what = element('p', { class: 'what' }, ...about, element('span', {}, text));
        return element('li', {}, what, element('p', { class: 'remedy' }, remedy));
      });
      const left = warnings.length - items.length;
      if (left > 0) items.push(element('li', {}, `and ${left} more`));
      const none = element('p', { class: 'all-well' }, 'No warnings.');
      this.#root.replaceChildren(items.length === 0 ? none : element('ul', {}, ...items));
    });
  }

  #groupButton(group: string): HTMLElement {
    const button = element('button', { type: 'button', class: 'link' }, group);
    button.addEventListener('click', () => this.#onGroup(group));
    return button;
  }
}
