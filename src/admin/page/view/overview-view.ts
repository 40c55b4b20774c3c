import { integer, percent } from '../cells.ts';
import { summaryOf } from '../group-summary.ts';
import type { GroupState, State } from '../../state-shape.ts';
import { element, setAttribute, setText } from './dom.ts';

const COLUMNS = [
  'Server group',
  'Warnings',
  'Backends',
  'Unhealthy',
  'Silent',
  'Queued',
  'Running',
  'Refused',
  'Sidecars',
] as const;

interface Line {
  readonly row: HTMLTableRowElement;
  readonly button: HTMLButtonElement;
  readonly cells: readonly HTMLTableCellElement[];
}

/** A line for each server group, where there are several. */
export class OverviewView {
  readonly #root: HTMLElement;
  readonly #body = element('tbody');
  readonly #lines = new Map<string, Line>();
  readonly #onGroup: (name: string) => void;
  #order = '';

  constructor(root: HTMLElement, onGroup: (name: string) => void) {
    this.#root = root;
    this.#onGroup = onGroup;
    const heads = COLUMNS.map((name, column) =>
      element('th', { scope: 'col', class: column === 0 ? '' : 'number' }, name),
    );
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...heads)), this.#body);
    root.append(
      element('div', { class: 'head' }, element('h2', {}, 'Server groups')),
      element('div', { class: 'scroll' }, table),
    );
  }

  render({ groups }: State, shown: string): void {
    this.#root.hidden = groups.length < 2;
    if (this.#root.hidden) return;
    const order = JSON.stringify(groups.map(({ name }) => name));
    if (order !== this.#order) this.#rebuild(groups);
    this.#order = order;
    for (const group of groups) this.#update(group, group.name === shown);
  }

  #rebuild(groups: readonly GroupState[]): void {
    this.#lines.clear();
    for (const { name } of groups) this.#lines.set(name, this.#makeLine(name));
    this.#body.replaceChildren(...[...this.#lines.values()].map(({ row }) => row));
  }

  #makeLine(name: string): Line {
    const button = element('button', { type: 'button', class: 'link' }, name);
    button.addEventListener('click', () => this.#onGroup(name));
    const cells = COLUMNS.slice(1).map(() => element('td', { class: 'number' }));
    const row = element('tr', {}, element('th', { scope: 'row', title: name }, button), ...cells);
    return { row, button, cells };
  }

  #update(group: GroupState, shown: boolean): void {
    const line = this.#lines.get(group.name);
    if (line === undefined) return;
    const { backends, unhealthy, silent, queued, running } = summaryOf(group);
    const { following, current } = group.streams;
    const { share } = group.admission;
    const warnings = group.warnings.length;
    const cells: readonly (readonly [text: string, mood: string])[] = [
      [integer(warnings), warnings > 0 ? 'warn' : 'muted'],
      [integer(backends), ''],
      [integer(unhealthy), unhealthy > 0 ? 'bad' : 'muted'],
      [integer(silent), silent > 0 ? 'warn' : 'muted'],
      [integer(queued), ''],
      [integer(running), ''],
      [percent(share), share > 0 ? 'bad' : 'muted'],
      [`${integer(current)} of ${integer(following)}`, ''],
    ];
    for (const [index, cell] of line.cells.entries()) {
      const [text, mood] = cells[index] ?? ['', ''];
      setText(cell, text);
      setAttribute(cell, 'class', `number ${mood}`.trimEnd());
    }
    setAttribute(line.button, 'aria-current', shown ? 'true' : undefined);
  }
}
