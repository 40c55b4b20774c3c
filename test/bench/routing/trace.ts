import { drawLengths } from '../../../src/demo/arrivals.ts';
import { createRandom } from '../../../src/demo/random.ts';
import type { CellSpec, Scenario, Stretch } from './model.ts';
import { capacityOf, STAYS } from './stays.ts';

/** One offered request. */
export interface Offered {
  /** After the start of the warm-up. */
  readonly atMs: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Index of the sidecar that it goes to. */
  readonly sidecar: number;
  /** Whether the client goes away half way. */
  readonly cancelled: boolean;
}

/** A span of constant rate; seconds after the start of the warm-up. */
interface Span {
  readonly untilSeconds: number;
  readonly ratePerSecond: number;
}

/** The offered requests of a cell, in order of time: the same for every arm, and at another number of sidecars too. */
export function traceOf(spec: CellSpec): readonly Offered[] {
  const { scenario, sidecars, seed, rateFactor } = spec;
  const [times, lengths, targets, patience] = [0, 1, 2, 3].map((stream) => createRandom(seed * 4 + stream));
  const { mix } = STAYS[scenario.stay];
  return arrivalTimes(spansOf(scenario, rateFactor), () => times!.exponential()).map((atMs) => ({
    atMs,
    ...drawLengths(mix, lengths!),
    sidecar: Math.floor(targets!.uniform() * sidecars),
    cancelled: patience!.uniform() < (scenario.cancelledShare ?? 0),
  }));
}

/** Requests per second that the fleet, as it stands at the beginning, finishes when every queue is full. */
export function fleetCapacity(scenario: Scenario): number {
  const members = membersAtStart(scenario);
  return capacityOf(scenario.stay) * members.reduce((sum, index) => sum + 1 / slownessOf(scenario, index), 0);
}

/** Indexes of the backends that do not join later. */
export function membersAtStart({ backends, happenings = [] }: Scenario): readonly number[] {
  const later = new Set(
    happenings.flatMap(({ backend, change }) => (change.kind === 'join' ? [backend] : [])),
  );
  return Array.from({ length: backends }, (_, index) => index).filter((index) => !later.has(index));
}

export function slownessOf({ slowness = [] }: Scenario, backend: number): number {
  return slowness[backend] ?? 1;
}

function spansOf(scenario: Scenario, rateFactor: number): readonly Span[] {
  const { warmUpSeconds, stretches } = scenario;
  const capacity = fleetCapacity(scenario) * rateFactor;
  const spans: Span[] = [
    { untilSeconds: warmUpSeconds, ratePerSecond: capacity * (stretches[0]?.load ?? 0) },
  ];
  let fromSeconds = warmUpSeconds;
  for (const stretch of stretches) {
    spans.push(...spansOfStretch(stretch, fromSeconds, capacity * stretch.load));
    fromSeconds += stretch.seconds;
  }
  return spans;
}

/** Quiet first, then the burst, and so on; a burst ends with its stretch. */
function spansOfStretch({ seconds, burst }: Stretch, fromSeconds: number, rate: number): readonly Span[] {
  const endSeconds = fromSeconds + seconds;
  if (burst === undefined) return [{ untilSeconds: endSeconds, ratePerSecond: rate }];
  const quietSeconds = burst.everySeconds - burst.seconds;
  const quietRate = Math.max(0, (rate * (burst.everySeconds - burst.factor * burst.seconds)) / quietSeconds);
  const spans: Span[] = [];
  for (let from = fromSeconds; from < endSeconds; from += burst.everySeconds) {
    const until = (at: number): number => Math.min(endSeconds, at);
    spans.push({ untilSeconds: until(from + quietSeconds), ratePerSecond: quietRate });
    spans.push({ untilSeconds: until(from + burst.everySeconds), ratePerSecond: rate * burst.factor });
  }
  return spans;
}

/** A Poisson process of changing rate, in milliseconds: one of rate 1 with its time stretched. */
function arrivalTimes(spans: readonly Span[], exponential: () => number): readonly number[] {
  const times: number[] = [];
  let left = exponential();
  let fromSeconds = 0;
  for (const { untilSeconds, ratePerSecond } of spans) {
    let at = fromSeconds;
    for (;;) {
      const next = at + left / ratePerSecond;
      if (!(next < untilSeconds)) break;
      times.push(next * 1000);
      at = next;
      left = exponential();
    }
    left -= (untilSeconds - at) * ratePerSecond;
    fromSeconds = untilSeconds;
  }
  return times;
}
