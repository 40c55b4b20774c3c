import { availableParallelism, loadavg } from 'node:os';
import type { Clock } from '../runtime/clock.ts';
import { watchEventLoop } from '../runtime/event-loop-watch.ts';
import { quantile } from './quantile.ts';

/** How much of the machine a demo got. */
export interface Machine {
  /** How late its timers were: 99 of 100 not more than this. NaN: none was looked at. */
  readonly lateP99Ms: number;
  readonly lateMostMs: number;
  /** Processes that ran or wanted to, mean of the last minute. */
  readonly load: number;
  readonly cores: number;
}

/** From here on what a demo measures is as much of the machine as of Plimsoll. */
const LATE_MS = 50;

/**
 * Watches how late timers are from now on.
 * @returns ends that and tells it
 */
export function watchMachine(clock: Clock): () => Machine {
  const late: number[] = [];
  const end = watchEventLoop(clock, (lateMs) => {
    late.push(lateMs);
  });
  return () => {
    end();
    return {
      lateP99Ms: quantile(late, 0.99),
      lateMostMs: quantile(late, 1),
      load: loadavg()[0] ?? 0,
      cores: availableParallelism(),
    };
  };
}

/** Why a check may have failed that would hold elsewhere; undefined: the machine is no reason. */
export function starvedWords({ lateP99Ms, lateMostMs, load, cores }: Machine): string | undefined {
  if (!(lateP99Ms >= LATE_MS)) return undefined;
  return (
    `the machine was short of time: of the demo's timers 1 in 100 was ${lateP99Ms.toFixed(0)} ms late or more, ` +
    `the worst ${lateMostMs.toFixed(0)} ms; load ${load.toFixed(1)} on ${cores} cores. Repeat it when less runs beside it.`
  );
}
