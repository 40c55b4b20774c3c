import type UPlot from 'uplot';
import { percent } from '../cells.ts';
import { type ChartData, timeRange, valueRange } from '../chart-data.ts';
import { clockTime, minuteTime } from './clock.ts';
import { element, setAttribute, setText } from './dom.ts';
import { colorOf } from './theme.ts';

/** Loaded by the page before its modules run. */
declare const uPlot: typeof UPlot;

export interface ChartLine {
  readonly label: string;
  /** A custom property of the style sheet. */
  readonly color: string;
  readonly format: (value: number | null) => string;
  /** A share, on a scale of its own from 0 to 1. */
  readonly isShare?: boolean;
}

export interface ChartPlan {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  /** The least top of the scale. */
  readonly least: number;
  /** What stands at the scale. */
  readonly tick: (value: number) => string;
  /** Values that are there only now and then: a point each, with a line between them. */
  readonly sparse?: boolean;
  /** The area between the first line and the second one is filled. */
  readonly band?: boolean;
}

const HEIGHT = 116;
const FONT = '11px system-ui, sans-serif';
/** Of an axis, by uPlot's numbers. */
const TO_THE_RIGHT = { side: 1 };
const EMPTY: ChartData = [[]];

/** One chart of the last 15 minutes, with its heading and the values where the pointer is, else the newest. */
export class Chart {
  readonly root: HTMLElement;
  readonly #plan: ChartPlan;
  readonly #canvas = element('div', { class: 'canvas' });
  readonly #values: readonly HTMLElement[];
  readonly #time = element('span', { class: 'muted' });
  #data: ChartData = EMPTY;
  #now = 0;
  #newest: readonly (number | null)[] = [];
  #plot: UPlot | undefined;

  constructor(plan: ChartPlan) {
    this.#plan = plan;
    this.#values = plan.lines.map(() => element('b'));
    const legend = plan.lines.map(({ label, color }, index) =>
      element('span', { class: `key ${color.slice(2)}` }, label, ' ', this.#values[index] ?? ''),
    );
    const heading = element(
      'figcaption',
      {},
      element('span', { class: 'title' }, plan.title),
      ...legend,
      this.#time,
    );
    this.root = element('figure', {}, heading, this.#canvas);
    new ResizeObserver(() => this.#resize()).observe(this.#canvas);
  }

  /** @param newest of each line, at this moment: a point of the data may be some seconds old */
  render(data: ChartData, newest: readonly (number | null)[], now: number): void {
    this.#data = data;
    this.#newest = newest;
    this.#now = now;
    this.#plot?.setData(data as UPlot.AlignedData);
    this.#tell(this.#plot?.cursor.idx ?? null);
  }

  /** Draws it anew: colours are other ones. */
  redraw(): void {
    this.#plot?.destroy();
    this.#plot = undefined;
    this.#resize();
  }

  #resize(): void {
    const width = Math.floor(this.#canvas.clientWidth);
    if (width === 0) return;
    if (this.#plot === undefined) this.#plot = this.#make(width);
    else if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
  }

  #make(width: number): UPlot {
    const { lines, band = false } = this.#plan;
    const muted = colorOf('--muted');
    const grid = { stroke: colorOf('--line'), width: 1 };
    const axis = { stroke: muted, grid, ticks: { show: false }, font: FONT };
    const options: UPlot.Options = {
      width,
      height: HEIGHT,
      padding: [6, 16, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: 'plimsoll' }, drag: { x: false, y: false, setScale: false }, y: false },
      scales: {
        x: { time: true, range: () => [...timeRange(this.#now)] },
        y: { range: (_plot, _from, to) => valueRange(to, this.#plan.least) },
        share: { range: () => [0, 1] },
      },
      axes: [
        {
          ...axis,
          size: 20,
          space: 60,
          values: (_plot, times) => times.map((time) => minuteTime(1000 * time)),
        },
        { ...axis, size: 44, space: 26, values: (_plot, values) => values.map(this.#plan.tick) },
        ...(lines.some(({ isShare = false }) => isShare) ? [shareAxis(axis)] : []),
      ],
      series: [{}, ...lines.map((line) => this.#series(line))],
      bands: band ? [{ series: [1, 2], fill: faint(colorOf(lines[0]?.color ?? '--muted')) }] : [],
      hooks: { setCursor: [(plot) => this.#tell(plot.cursor.idx ?? null)] },
    };
    return new uPlot(options, this.#data as UPlot.AlignedData, this.#canvas);
  }

  #series({ label, color, isShare = false }: ChartLine): UPlot.Series {
    const { sparse = false } = this.#plan;
    const stroke = colorOf(color);
    return {
      label,
      stroke,
      width: 1.5,
      scale: isShare ? 'share' : 'y',
      spanGaps: sparse,
      points: { show: sparse, size: 4, fill: stroke },
      ...(isShare && { fill: faint(stroke) }),
    };
  }

  /** @param index of the point under the pointer; null: the newest */
  #tell(index: number | null): void {
    const [times, ...series] = this.#data;
    const at = index ?? times.length - 1;
    const texts = this.#plan.lines.map(({ format }, line) =>
      format((index === null ? this.#newest[line] : series[line]?.[index]) ?? null),
    );
    for (const [line, text] of texts.entries()) setText(this.#values[line] ?? this.#time, text);
    setText(this.#time, index === null || times[at] === undefined ? '' : clockTime(1000 * times[at]));
    const said = this.#plan.lines.map(({ label }, line) => `${label} ${texts[line] ?? ''}`).join(', ');
    setAttribute(this.#canvas, 'role', 'img');
    setAttribute(this.#canvas, 'aria-label', `${this.#plan.title}, the last 15 minutes. Now: ${said}`);
  }
}

/** To the right, so that a share is not read off the scale of the counts. */
function shareAxis(axis: UPlot.Axis): UPlot.Axis {
  const share: UPlot.Axis = {
    ...axis,
    scale: 'share',
    size: 40,
    space: 40,
    grid: { show: false },
    values: (_plot, values) => values.map((value) => percent(value, 0)),
  };
  return Object.assign(share, TO_THE_RIGHT);
}

/** @param color `rgb(1, 2, 3)` */
function faint(color: string): string {
  return color.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.14)');
}
