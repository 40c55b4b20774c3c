import type { Row } from '../rows.ts';
import { sparkPath } from '../sparkline.ts';
import { BACKEND_COLUMNS, isText, type TextColumn } from './backend-columns.ts';
import { element, setAttribute, setText, svg } from './dom.ts';

const BAR = { width: 96, height: 10 } as const;
const SPARK = { width: 84, height: 20, points: 60 } as const;
/** Weights are over the mean. */
const WEIGHT_MOST = 2;

/** The last 15 minutes of one backend, oldest first. */
export interface Trend {
  readonly inside: readonly (number | null)[];
  readonly weight: readonly (number | null)[];
}

/** What a row is drawn by. */
export interface RowScale {
  /** The most requests inside of any backend now, and within the trends. */
  readonly mostInside: number;
  readonly mostTrend: number;
}

/** A row of the table. It is used again for other backends as the table scrolls. */
export class BackendRowView {
  readonly root = element('tr', { class: 'row' });
  readonly #texts: readonly {
    readonly column: TextColumn;
    readonly cell: HTMLElement;
    readonly holder: HTMLElement;
  }[];
  readonly #running = svg('rect', { class: 'running', height: String(BAR.height) });
  readonly #queued = svg('rect', { class: 'queued', height: String(BAR.height) });
  readonly #load = svg('path', { class: 'running' });
  readonly #weight = svg('path', { class: 'weight' });
  #id = '';

  /** @param onClick with the backend that it shows at that moment */
  constructor(onClick: (id: string) => void) {
    const drawings = {
      load: svg(
        'svg',
        { ...sized(BAR), class: 'bar', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
        this.#running,
        this.#queued,
      ),
      'load-trend': svg('svg', { ...sized(SPARK), class: 'spark', 'aria-hidden': 'true' }, this.#load),
      'weight-trend': svg(
        'svg',
        { ...sized(SPARK), class: 'spark', 'aria-hidden': 'true' },
        meanLine(),
        this.#weight,
      ),
    };
    const texts: { column: TextColumn; cell: HTMLElement; holder: HTMLElement }[] = [];
    for (const column of BACKEND_COLUMNS) {
      if (!isText(column)) {
        this.root.append(element('td', { class: column.name }, drawings[column.name]));
        continue;
      }
      const holder = element('span');
      const names = column.isNumber ? `number ${column.name}` : column.name;
      const cell =
        column.name === 'backend'
          ? element('th', { scope: 'row', class: names }, holder)
          : element('td', { class: names }, holder);
      texts.push({ column, cell, holder });
      this.root.append(cell);
    }
    this.#texts = texts;
    this.root.addEventListener('click', () => onClick(this.#id));
  }

  show(row: Row, trend: Trend | undefined, scale: RowScale): void {
    this.#id = row.id;
    for (const { column, cell, holder } of this.#texts) {
      const text = column.text(row);
      setText(holder, text);
      if (column.name === 'why') setAttribute(cell, 'title', text === '' ? undefined : text);
      if (column.name === 'backend')
        setAttribute(cell, 'title', `${row.id}, configured weight ${row.configuredWeight}`);
    }
    setAttribute(this.root, 'data-backend', row.id);
    setAttribute(this.root, 'data-state', row.state);
    this.#drawLoad(row, scale.mostInside);
    setAttribute(this.#load, 'd', trend && sparkPath(trend.inside, { ...SPARK, most: scale.mostTrend }));
    setAttribute(this.#weight, 'd', trend && sparkPath(trend.weight, { ...SPARK, most: WEIGHT_MOST }));
  }

  /** @param position from 1 among all rows that are to be seen by scrolling */
  place(position: number, selected: boolean, open: boolean): void {
    setAttribute(this.root, 'id', `row-${position}`);
    setAttribute(this.root, 'aria-rowindex', String(position + 1));
    setAttribute(this.root, 'aria-selected', String(selected));
    setAttribute(this.root, 'aria-expanded', String(open));
  }

  #drawLoad({ running, queued }: Row, most: number): void {
    const lengthOf = (value: number | null): number => (most > 0 ? ((value ?? 0) / most) * BAR.width : 0);
    const start = lengthOf(running);
    setAttribute(this.#running, 'width', start.toFixed(1));
    setAttribute(this.#queued, 'x', start.toFixed(1));
    setAttribute(this.#queued, 'width', lengthOf(queued).toFixed(1));
  }
}

function sized({ width, height }: { readonly width: number; readonly height: number }) {
  return { width: String(width), height: String(height), viewBox: `0 0 ${width} ${height}` };
}

function meanLine(): SVGPathElement {
  const y = SPARK.height - 1 - (SPARK.height - 2) / WEIGHT_MOST;
  return svg('path', { class: 'mean', d: `M0 ${y}H${SPARK.width}` });
}
