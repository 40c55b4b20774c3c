import { type CellReport, FIGURES, type Figure } from './report.ts';

interface Row {
  readonly label: string;
  /** One unit of the figure in the unit of the label. */
  readonly scale: number;
  /** The ratio that is aimed at, from {@link GOAL_STREAMS} on. */
  readonly goal?: number;
}

const ROWS: Readonly<Record<Figure, Row>> = {
  cpuMsPerPush: { label: 'processor time of a push with its ACKs, ms', scale: 1, goal: 0.85 },
  lastP50Ms: { label: 'from publishing to the last stream, ms: p50', scale: 1 },
  lastP99Ms: { label: '                                        p99', scale: 1, goal: 1 },
  lastMaxMs: { label: '                                        max', scale: 1 },
  anyP50Ms: { label: 'to every stream, ms: p50', scale: 1 },
  anyP99Ms: { label: '                     p99', scale: 1 },
  idleBytes: { label: 'memory of a stream, KiB: idle', scale: 1 / 1024, goal: 0.9 },
  pushBytes: { label: '                         in a push', scale: 1 / 1024, goal: 0.9 },
  stormCpuMs: { label: 'all connect at once: processor time, ms', scale: 1, goal: 1.5 },
  stormMs: { label: '                     until the last is served, ms', scale: 1 },
};

const GOAL_STREAMS = 1_000;

/** The figures of one cell as a table for people. */
export function formatReport({ cell, ours, theirs, ratios }: CellReport): string {
  const lines = FIGURES.map((figure) => {
    const { label, scale, goal } = ROWS[figure];
    const columns = [label.padEnd(50), number(ours[figure] * scale)];
    if (theirs !== undefined && ratios !== undefined) {
      columns.push(number(theirs[figure] * scale), ratios[figure].toFixed(2).padStart(8));
      if (goal !== undefined && cell.streams >= GOAL_STREAMS) columns.push(judgement(ratios[figure], goal));
    }
    return `  ${columns.join('')}`;
  });
  const title = `${cell.streams} streams, ${cell.backends} backends, ADS ${cell.variant}`;
  const heads = theirs === undefined ? ['plimsoll'] : ['plimsoll', 'LinearCache'];
  const head = `${title.padEnd(52)}${heads.map((name) => name.padStart(12)).join('')}`;
  return ['', theirs === undefined ? head : `${head}   ratio`, ...lines].join('\n');
}

function number(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0).padStart(12);
}

function judgement(ratio: number, goal: number): string {
  return `  ${ratio <= goal ? 'within' : 'MISSES'} ${goal}`;
}
