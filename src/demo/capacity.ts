import { CHAT, drawLengths, type Mix } from './arrivals.ts';
import { Engine, type EngineSettings } from './engine.ts';
import { createRandom } from './random.ts';

const REQUESTS = 2000;

/**
 * Requests per second that an engine finishes when its queue is never empty: the load at which a backend saturates.
 * Measured on the engine itself, in simulated time.
 */
export function saturatedRate(settings: EngineSettings, mix: Mix = CHAT): number {
  const engine = new Engine(settings);
  const random = createRandom(1);
  for (let id = 0; id < REQUESTS; id++) engine.add({ id, ...drawLengths(mix, random) }, 0);
  let lastMs = 0;
  // From the first request on to where the queue has just run dry: the slots that empty at the end do not count.
  while (engine.nextMs !== undefined && engine.inside > settings.slots) {
    lastMs = engine.nextMs;
    engine.advance(lastMs);
  }
  return (engine.counters.finished / lastMs) * 1000;
}
