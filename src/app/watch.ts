import type { Metrics } from '../admin/metrics.ts';
import { SidecarLog } from '../admin/sidecar-log.ts';
import type { Sidecars } from '../admin/sidecars.ts';
import type { Clock } from '../runtime/clock.ts';
import { watchEventLoop } from '../runtime/event-loop-watch.ts';
import { every } from '../runtime/every.ts';
import type { Logger } from '../runtime/log.ts';

/** How often it is looked which sidecars are behind. */
const SIDECARS_LOOK_MS = 2_000;

/**
 * Watches whether the process comes late and sidecars are behind.
 * @returns ends it.
 */
export function watch(options: {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly sidecars: Sidecars;
}): () => void {
  const { clock, log, metrics, sidecars } = options;
  const endLoopWatch = watchEventLoop(clock, (lateMs) => {
    metrics.loopDelayed(lateMs / 1000);
  });
  const sidecarLog = new SidecarLog(log, sidecars, () => clock.now());
  const endSidecarWatch = every(clock, SIDECARS_LOOK_MS, () => {
    sidecarLog.look();
  });
  return () => {
    endLoopWatch();
    endSidecarWatch();
  };
}
