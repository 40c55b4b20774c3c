import type { ConfigurationState, Reload } from '../../state-shape.ts';
import { dateTime } from './clock.ts';
import { element, Memo, setText } from './dom.ts';

const BECAUSE: Readonly<Record<Reload['because'], string>> = {
  start: 'start',
  signal: 'SIGHUP',
  file: 'the file changed',
};

/** What is in force, and what every reload brought. */
export class ConfigurationView {
  readonly #note: HTMLElement;
  readonly #reloads = element('ol', { class: 'reloads' });
  readonly #yaml = element('pre', { tabindex: '0', 'aria-label': 'Configuration in force' });
  readonly #memo = new Memo();

  constructor(note: HTMLElement, root: HTMLElement) {
    this.#note = note;
    const details = element(
      'details',
      {},
      element('summary', {}, 'In force, with every default filled in'),
      this.#yaml,
    );
    root.append(this.#reloads, details);
  }

  render({ file, yaml, inForceSince, reloads }: ConfigurationState): void {
    setText(this.#note, `${file}, in force since ${dateTime(inForceSince)}`);
    setText(this.#yaml, yaml);
    this.#memo.update(JSON.stringify(reloads), () => {
      this.#reloads.replaceChildren(...reloads.map(itemOf));
    });
  }
}

function itemOf(reload: Reload): HTMLElement {
  const refused = reload.outcome === 'refused';
  const what = refused
    ? 'refused: what was in force before still is'
    : takenWords(reload.changes, reload.because);
  const head = element('p', {}, element('time', {}, dateTime(reload.at)), ` ${BECAUSE[reload.because]} `);
  head.append(element('span', { class: refused ? 'bad' : 'muted' }, what));
  const lines: readonly string[] = refused
    ? [...reload.mistakes, ...(reload.moreMistakes > 0 ? [`and ${reload.moreMistakes} more`] : [])]
    : reload.changes;
  if (lines.length === 0) return element('li', {}, head);
  return element('li', {}, head, element('ul', {}, ...lines.map((line) => element('li', {}, line))));
}

function takenWords(changes: readonly string[], because: Reload['because']): string {
  if (because === 'start') return '';
  return changes.length === 0 ? 'taken, nothing has changed' : 'taken';
}
