import { integer, percent, took } from '../cells.ts';
import { chartData, newestOf } from '../chart-data.ts';
import type { GroupState, HistorySeries } from '../../state-shape.ts';
import { Chart, type ChartPlan } from './chart.ts';

const factor = (value: number | null): string => (value === null ? '–' : `×${value.toFixed(2)}`);

const PLANS: readonly (ChartPlan & { readonly series: readonly HistorySeries[] })[] = [
  {
    title: 'Requests',
    series: ['running', 'queued'],
    lines: [
      { label: 'running', color: '--running', format: integer },
      { label: 'queued', color: '--queued', format: integer },
    ],
    least: 4,
    tick: integer,
  },
  {
    title: 'Weights over the mean',
    series: ['mostWeight', 'leastWeight'],
    lines: [
      { label: 'most', color: '--weight', format: factor },
      { label: 'least', color: '--weight', format: factor },
    ],
    least: 2,
    tick: factor,
    band: true,
  },
  {
    title: 'Backends',
    series: ['saturated', 'silent', 'refusedShare'],
    lines: [
      { label: 'saturated', color: '--bad', format: integer },
      { label: 'silent', color: '--warn', format: integer },
      { label: 'requests refused', color: '--refused', format: (value) => percent(value), isShare: true },
    ],
    least: 4,
    tick: (value) => (Number.isInteger(value) ? integer(value) : ''),
  },
  {
    title: 'Push to ACK',
    series: ['acknowledgementSeconds'],
    lines: [{ label: 'last sidecar', color: '--weight', format: took }],
    least: 0.02,
    tick: took,
    sparse: true,
  },
];

/** The last 15 minutes of a group. */
export class ChartsView {
  readonly #charts = PLANS.map((plan) => ({ chart: new Chart(plan), series: plan.series }));

  constructor(root: HTMLElement) {
    root.append(...this.#charts.map(({ chart }) => chart.root));
  }

  render(group: GroupState, now: number): void {
    const newest = newestOf(group);
    for (const { chart, series } of this.#charts) {
      chart.render(
        chartData(group.history, series),
        series.map((name) => newest[name]),
        now,
      );
    }
  }

  redraw(): void {
    for (const { chart } of this.#charts) chart.redraw();
  }
}
