import type { Mix } from '../../../src/demo/arrivals.ts';
import { saturatedRate } from '../../../src/demo/capacity.ts';
import type { EngineSettings } from '../../../src/demo/engine.ts';
import type { Scenario } from './model.ts';

/** A kind of inference server and the requests that go with it. */
export interface Stay {
  readonly engine: EngineSettings;
  readonly mix: Mix;
  /** How long the last requests may take after the last arrival. */
  readonly drainSeconds: number;
}

/** What a step takes: the weights are read, and then by prefill token, decoding sequence and resident KV token. */
const STEP = { stepMs: 12, prefillTokenMs: 0.08, decodingMs: 0.06, residentTokenMs: 0.000_05 } as const;

export const STAYS: Readonly<Record<Scenario['stay'], Stay>> = {
  short: {
    engine: { ...STEP, slots: 8, kvTokens: 16_384, stepTokens: 512 },
    mix: {
      prompt: { median: 150, sigma: 1.1, most: 1400 },
      output: { median: 48, sigma: 0.9, most: 480 },
      longShare: 0.03,
      longPrompt: { median: 2500, sigma: 0.3, most: 5000 },
    },
    drainSeconds: 12,
  },
  long: {
    engine: { ...STEP, slots: 128, kvTokens: 120_000, stepTokens: 2048 },
    mix: {
      prompt: { median: 300, sigma: 1.1, most: 8192 },
      output: { median: 190, sigma: 0.9, most: 2048 },
      longShare: 0.03,
      longPrompt: { median: 12_000, sigma: 0.4, most: 32_000 },
    },
    drainSeconds: 40,
  },
};

const capacities = new Map<Scenario['stay'], number>();

/** Requests per second that one backend of slowness 1 finishes when it always has a queue. Simulated: equal on every machine. */
export function capacityOf(stay: Scenario['stay']): number {
  const { engine, mix } = STAYS[stay];
  const known = capacities.get(stay) ?? saturatedRate(engine, mix);
  capacities.set(stay, known);
  return known;
}
