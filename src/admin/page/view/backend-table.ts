import { filterRows } from '../filter-rows.ts';
import { type Row, rowsOf } from '../rows.ts';
import { FIRST_SORTING, inOrder, nextSorting, type SortKey, sortRows } from '../sort-rows.ts';
import { largest } from '../sparkline.ts';
import { scrollTo, type VirtualList, virtualWindow } from '../virtual-window.ts';
import type { GroupState, Trends } from '../../state-shape.ts';
import { BACKEND_COLUMNS, isText } from './backend-columns.ts';
import { BackendRowView, type RowScale } from './backend-row.ts';
import { BackendTools } from './backend-tools.ts';
import { element, setAttribute } from './dom.ts';

/** As the style sheet has it. */
const ROW_HEIGHT = 26;
const HEADING_HEIGHT = 28;
/** Characters that the column of the backends has room for at least. */
const MIN_LENGTH = 14;

/** The table of a group's backends. Of many rows only those in sight are there. */
export class BackendTable {
  readonly #tools = new BackendTools(() => {
    this.#arrange(true);
  });
  readonly #scroller = element('div', { class: 'scroll backends' });
  readonly #grid = element('table', {
    role: 'grid',
    tabindex: '0',
    'aria-label': 'Backends',
    class: 'backends',
  });
  readonly #body = element('tbody');
  readonly #before = spacer();
  readonly #after = spacer();
  readonly #detailCell = element('td');
  readonly #detailRow = element('tr', { class: 'detail' }, this.#detailCell);
  readonly #heads: readonly HTMLElement[];
  readonly #sortHeads = new Map<HTMLElement, SortKey>();
  readonly #views: BackendRowView[] = [];
  readonly #onOpen: (id: string | undefined) => void;
  #group: GroupState | undefined;
  #now = 0;
  #trends: Trends | undefined;
  #sorting = FIRST_SORTING;
  #rows: readonly Row[] = [];
  #order: readonly string[] = [];
  #selected: string | undefined;
  #open: string | undefined;
  #detailHeight = 0;

  /**
   * @param detail what an open row has below it
   * @param onOpen another row is open now; undefined: none
   */
  constructor(root: HTMLElement, detail: HTMLElement, onOpen: (id: string | undefined) => void) {
    this.#onOpen = onOpen;
    this.#detailCell.append(detail);
    this.#body.append(this.#before, this.#after);
    this.#heads = this.#makeHeads();
    const head = element('thead', {}, element('tr', { 'aria-rowindex': '1' }, ...this.#heads));
    this.#grid.append(head, this.#body);
    this.#scroller.append(this.#grid);
    root.append(this.#tools.root, this.#scroller);
    this.#scroller.addEventListener('scroll', () => this.#draw(), { passive: true });
    new ResizeObserver(() => this.#fit()).observe(this.#scroller);
    new ResizeObserver(() => this.#measure()).observe(detail);
  }

  /** The field of the filter. */
  get field(): HTMLInputElement {
    return this.#tools.field;
  }

  /** Whether keys are for the table. */
  get hasFocus(): boolean {
    return document.activeElement === this.#grid;
  }

  render(group: GroupState, now: number): void {
    const isOther = this.#group?.name !== group.name;
    this.#group = group;
    this.#now = now;
    if (isOther) this.#begin();
    this.#arrange(isOther);
  }

  set trends(trends: Trends | undefined) {
    this.#trends = trends;
    this.#draw();
  }

  /** @param step from the selected row; without one from above the first */
  move(step: number): void {
    const from = this.#rows.findIndex(({ id }) => id === this.#selected);
    this.#select(Math.min(this.#rows.length - 1, Math.max(0, from + step)));
  }

  toggle(): void {
    if (this.#selected !== undefined)
      this.#setOpen(this.#open === this.#selected ? undefined : this.#selected);
  }

  /** Closes the open row, else clears the filter, else lets go of the selected row. */
  close(): void {
    if (this.#open !== undefined) this.#setOpen(undefined);
    else if (this.#tools.filter !== '') this.#tools.filter = '';
    else {
      this.#selected = undefined;
      this.#draw();
    }
    if (document.activeElement === this.field) this.#grid.focus({ preventScroll: true });
  }

  #begin(): void {
    this.#tools.field.value = '';
    this.#selected = undefined;
    this.#trends = undefined;
    this.#scroller.scrollTop = 0;
    if (this.#open !== undefined) this.#setOpen(undefined);
  }

  #makeHeads(): readonly HTMLElement[] {
    return BACKEND_COLUMNS.map((column) => {
      const { heading, title, sort } = column;
      const names = isText(column) && column.isNumber ? `number ${column.name}` : column.name;
      const head = element('th', { scope: 'col', class: names, title });
      head.append(sort === undefined ? heading : this.#sortButton(heading, sort));
      if (sort !== undefined) this.#sortHeads.set(head, sort);
      return head;
    });
  }

  #sortButton(heading: string, key: SortKey): HTMLElement {
    const button = element('button', { type: 'button' }, heading);
    button.addEventListener('click', () => {
      this.#sorting = nextSorting(this.#sorting, key);
      this.#arrange(true);
    });
    return button;
  }

  /** @param anew the order is to be found anew, even while somebody reads the table */
  #arrange(anew: boolean): void {
    if (this.#group === undefined) return;
    const all = rowsOf(this.#group, this.#now);
    if (this.#open !== undefined && !all.some(({ id }) => id === this.#open)) this.#setOpen(undefined);
    const longest = all.reduce((most, { id }) => Math.max(most, id.length), MIN_LENGTH);
    this.#grid.style.setProperty('--backend-length', String(longest));
    const found = filterRows(all, this.#tools.filter);
    const held = !anew && (this.#scroller.matches(':hover') || this.hasFocus || this.#open !== undefined);
    this.#rows = held ? inOrder(found, this.#order) : sortRows(found, this.#sorting);
    this.#order = this.#rows.map(({ id }) => id);
    this.#tools.render(all, found.length, held);
    for (const [head, key] of this.#sortHeads) {
      const direction = this.#sorting.descending ? 'descending' : 'ascending';
      setAttribute(head, 'aria-sort', key === this.#sorting.key ? direction : undefined);
    }
    this.#draw();
  }

  #list(): VirtualList {
    const index = this.#rows.findIndex(({ id }) => id === this.#open);
    return {
      count: this.#rows.length,
      rowHeight: ROW_HEIGHT,
      scrollTop: Math.max(0, this.#scroller.scrollTop),
      viewHeight: this.#scroller.clientHeight,
      open: index < 0 ? undefined : { index, height: this.#detailHeight },
    };
  }

  /** Narrow pages leave columns out. */
  #fit(): void {
    this.#detailCell.colSpan = this.#heads.filter(({ offsetWidth }) => offsetWidth > 0).length;
    this.#draw();
  }

  #draw(): void {
    const { first, end, before, after } = virtualWindow(this.#list());
    const rows = this.#rows.slice(first, end);
    const scale = this.#scale();
    while (this.#views.length < rows.length) this.#views.push(this.#makeRow());
    for (const view of this.#views.slice(rows.length)) view.root.remove();
    const wanted = rows.flatMap((row, offset) => {
      const view = this.#views[offset] ?? this.#makeRow();
      view.show(row, this.#trendOf(row), scale);
      view.place(first + offset + 1, row.id === this.#selected, row.id === this.#open);
      return row.id === this.#open ? [view.root, this.#detailRow] : [view.root];
    });
    if (!wanted.includes(this.#detailRow)) this.#detailRow.remove();
    this.#place(wanted);
    this.#before.style.height = `${before}px`;
    this.#after.style.height = `${after}px`;
    setAttribute(this.#grid, 'aria-rowcount', String(this.#rows.length + 1));
    const selected = this.#rows.findIndex(({ id }) => id === this.#selected);
    const inSight = selected >= first && selected < end;
    setAttribute(this.#grid, 'aria-activedescendant', inSight ? `row-${selected + 1}` : undefined);
  }

  /** Puts rows where they are not yet: what stays where it is keeps selections and hover. */
  #place(wanted: readonly HTMLElement[]): void {
    let last: HTMLElement = this.#before;
    for (const row of wanted) {
      if (last.nextElementSibling !== row) last.after(row);
      last = row;
    }
  }

  #makeRow(): BackendRowView {
    return new BackendRowView((id) => {
      this.#selected = id;
      this.#grid.focus({ preventScroll: true });
      this.toggle();
    });
  }

  #trendOf({ index }: Row) {
    if (this.#trends === undefined || this.#trends.membership !== this.#group?.membership) return undefined;
    const [inside, weight] = [this.#trends.inside[index], this.#trends.weight[index]];
    return inside === undefined || weight === undefined ? undefined : { inside, weight };
  }

  #scale(): RowScale {
    const rows = this.#group?.rows ?? [];
    const inside = rows.map((row) => (row[5] ?? 0) + (row[6] ?? 0));
    return { mostInside: largest([inside]), mostTrend: largest(this.#trends?.inside ?? []) };
  }

  #select(index: number): void {
    const row = this.#rows[index];
    if (row === undefined) return;
    this.#selected = row.id;
    this.#grid.focus({ preventScroll: true });
    this.#scroller.scrollTop = scrollTo(this.#list(), index, HEADING_HEIGHT);
    this.#draw();
  }

  #setOpen(id: string | undefined): void {
    this.#open = id;
    this.#detailHeight = 0;
    this.#onOpen(id);
    this.#draw();
    this.#measure();
  }

  #measure(): void {
    const height = this.#detailRow.isConnected ? this.#detailRow.offsetHeight : this.#detailHeight;
    if (height === this.#detailHeight) return;
    this.#detailHeight = height;
    this.#draw();
  }
}

function spacer(): HTMLTableRowElement {
  return element('tr', { class: 'spacer', 'aria-hidden': 'true' });
}
