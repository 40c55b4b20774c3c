import { strict as assert } from 'node:assert';
import { availableParallelism } from 'node:os';
import { type EvaluateInput, evaluate, type GroupState, initialState } from '../../src/core/evaluate.ts';
import type { Backend } from '../../src/core/model/backend.ts';
import type { CollectOutcome } from '../../src/core/model/collection.ts';
import type { ServerGroup } from '../../src/core/model/server-group.ts';
import { loadAwareGroup, PROPORTIONAL } from '../support/fleet.ts';

/**
 * Time and memory allocated by one evaluation by size of the group. The figures depend on the machine; that the time grows in
 * proportion to the size does not, so that alone is asserted.
 */
const SIZES = [100, 1_000, 10_000] as const;
const GROWTH_ALLOWED = 25;
const WARM_UP = 60;
const TIMED = 101;
const WEIGHED = 15;

interface Result {
  readonly backends: number;
  readonly milliseconds: number;
  /** The fastest: what other work on the machine disturbs least. */
  readonly leastMilliseconds: number;
  readonly allocatedBytes: number;
}

function groupOf(size: number): ServerGroup {
  const servers = Array.from({ length: size }, (_, index): Backend => {
    const address = `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
    return { id: `${address}:8000`, address, port: 8000, weight: 100 };
  });
  return loadAwareGroup(servers, { envoyLbPolicy: 'LeastRequest', saturation: PROPORTIONAL });
}

/** Load that differs between backends and from run to run; one in fifty does not answer. */
function inputAt(group: ServerGroup, run: number): EvaluateInput {
  const nowMs = 1_000 * run;
  const outcomes = new Map<string, CollectOutcome>();
  for (const [index, { id }] of group.servers.entries()) {
    const noise = (index * 7919 + run * 104729) % 97;
    if (noise < 2) continue;
    const sample = {
      queued: noise % 13,
      running: 8 + (noise % 40),
      kvUtilization: noise / 100,
      finished: 20 * run + (noise % 3),
      latency: undefined,
    };
    outcomes.set(id, { kind: 'sample', sample, engine: 'Vllm', atMs: nowMs - 10, durationMs: 5, bytes: 300 });
  }
  return { group, nowMs, run: { startedAtMs: nowMs - 20, endedAtMs: nowMs, outcomes }, delaySeconds: 0.1 };
}

function measure(size: number): Result {
  const group = groupOf(size);
  let state: GroupState = initialState();
  let run = 0;
  const next = (): { readonly milliseconds: number; readonly heapBytes: number } => {
    const input = inputAt(group, ++run);
    if (run > WARM_UP + TIMED) globalThis.gc?.();
    const heapBefore = process.memoryUsage().heapUsed;
    const startedAt = performance.now();
    ({ state } = evaluate(state, input));
    const milliseconds = performance.now() - startedAt;
    return { milliseconds, heapBytes: process.memoryUsage().heapUsed - heapBefore };
  };
  for (let warm = 0; warm < WARM_UP; warm++) next();
  const timed = Array.from({ length: TIMED }, next);
  const weighed = Array.from({ length: WEIGHED }, next);
  return {
    backends: size,
    milliseconds: median(timed.map((of) => of.milliseconds)),
    leastMilliseconds: Math.min(...timed.map((of) => of.milliseconds)),
    allocatedBytes: median(weighed.map((of) => of.heapBytes)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

console.log(`one evaluation, median of ${TIMED}, on ${availableParallelism()} cores`);
const results = SIZES.map(measure);
for (const [index, { backends, milliseconds, leastMilliseconds, allocatedBytes }] of results.entries()) {
  const smaller = results[index - 1];
  const growth = smaller === undefined ? undefined : leastMilliseconds / smaller.leastMilliseconds;
  console.log(
    `${String(backends).padStart(6)} backends  ${milliseconds.toFixed(3).padStart(8)} ms  ` +
      `${(allocatedBytes / 1024).toFixed(0).padStart(6)} KiB allocated` +
      (growth === undefined ? '' : `  ${growth.toFixed(1)} times the time for 10 times the backends`),
  );
  assert.ok(
    growth === undefined || growth < GROWTH_ALLOWED,
    `time must grow linearly: ${growth} times for 10 times the backends, at most ${GROWTH_ALLOWED}`,
  );
}
