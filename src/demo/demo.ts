import { systemClock } from '../runtime/clock.ts';
import { EXIT } from '../runtime/errors.ts';
import { checkActs } from './checks.ts';
import { type Machine, watchMachine } from './machine.ts';
import { type Display, Painter } from './painter.ts';
import { formatReport, type Report, reportJson } from './report.ts';
import { Show } from './show.ts';
import { Stage } from './stage.ts';
import type { ActSummary } from './summary.ts';

export interface DemoOptions {
  /** Length of the five acts, about. */
  readonly seconds: number;
  readonly backends: number;
  readonly seed: number;
  /** Write the result as JSON to `out`. */
  readonly json: boolean;
  /** Stay up after the acts, under moderate load, until `signal` aborts. */
  readonly keep: boolean;
}

export interface DemoIo {
  /** The result, when it is to be JSON. */
  readonly out: (text: string) => void;
  readonly display: Display;
  /** Ends the demo in order. */
  readonly signal: AbortSignal;
}

/** The last backend takes this many times longer for each step. */
const SLOW = 2;

/**
 * Plays five acts on simulated backends, a real Envoy and a control plane of its own; ends all that it started.
 * @returns the exit code: `ok` only if every check holds.
 * @throws PlimsollError when a part cannot be started.
 */
export async function demo(options: DemoOptions, io: DemoIo): Promise<number> {
  const painter = new Painter(io.display);
  painter.print(`starting ${options.backends} backends, the control plane and Envoy\n`);
  let report: Report | undefined;
  try {
    const stage = await Stage.open(options.backends, SLOW, io.signal);
    try {
      painter.print(`${stage.addresses.join('\n')}\n`);
      const { seconds, seed } = options;
      const show = new Show(stage, { seconds, seed, painter, signal: io.signal });
      const { summaries, machine } = await watched(show);
      io.signal.throwIfAborted();
      report = makeReport(options, stage, summaries, machine);
      painter.print(formatReport(report));
      if (options.json) io.out(reportJson(report));
      if (options.keep) await show.encore();
    } finally {
      painter.leave();
      const log = await stage.close(!isOk(report) && !io.signal.aborted);
      if (log !== undefined) painter.print(`Envoy's log: ${log}\n`);
    }
  } catch (error) {
    if (error !== io.signal.reason) throw error;
    if (report === undefined) painter.print('interrupted\n');
  }
  return isOk(report) ? EXIT.ok : EXIT.failed;
}

async function watched(
  show: Show,
): Promise<{ readonly summaries: readonly ActSummary[]; readonly machine: Machine }> {
  const machine = watchMachine(systemClock);
  try {
    const summaries = await show.play();
    return { summaries, machine: machine() };
  } finally {
    machine();
  }
}

function isOk(report: Report | undefined): boolean {
  return report?.checks.every((check) => check.ok) === true;
}

function makeReport(
  options: DemoOptions,
  stage: Stage,
  summaries: readonly ActSummary[],
  machine: Machine,
): Report {
  const { seconds, seed } = options;
  const backends = stage.backends.map(({ id, slowness }) => ({ id, speed: 1 / slowness }));
  return { seconds, seed, backends, summaries, checks: checkActs(summaries), machine };
}
