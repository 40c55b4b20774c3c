import type { CellResult, CellSpec, OutcomeName } from '../../../bench/routing/model.ts';
import { countedSeconds } from '../../../bench/routing/scenarios.ts';
import { createRandom } from '../../../../src/demo/random.ts';

interface Character {
  /** Of the requests that are not shed, in time; the others come after 2 to 3 s. Default 1. */
  readonly inTime?: number;
  /** Of all, while the load is above 1. Default 0. */
  readonly shed?: number;
  readonly disturbances?: readonly string[];
  readonly changes?: Partial<CellResult>;
}

const REQUESTS_PER_SECOND = 20;

/** What a cell of the spec might have measured: the same arrivals for every arm of a seed. */
export function syntheticCell(spec: CellSpec, character: Character = {}): CellResult {
  const { scenario, arm, sidecars, seed, rateFactor } = spec;
  const seconds = countedSeconds(scenario);
  const overloaded = scenario.stretches[0]!.load > 1 ? scenario.stretches[0]!.seconds : 0;
  const random = createRandom(seed);
  const count = Math.round(seconds * REQUESTS_PER_SECOND * rateFactor);
  const rows = Array.from({ length: count }, (_, index) => {
    const atMs = ((index + random.uniform()) * seconds * 1_000) / count;
    const [fate, time] = [random.uniform(), random.uniform()];
    if (random.uniform() < (atMs < overloaded * 1_000 ? (character.shed ?? 0) : 0))
      return { atMs, outcome: 'shed' as OutcomeName, firstTokenMs: null, endMs: 2, backend: null };
    const firstTokenMs = fate < (character.inTime ?? 1) ? 100 + 800 * time : 2_000 + 1_000 * time;
    const backend = index % scenario.backends;
    return { atMs, outcome: 'ok' as OutcomeName, firstTokenMs, endMs: firstTokenMs + 500, backend };
  });
  const plimsoll = arm.startsWith('adaptive') || arm === 'linear';
  return {
    scenario: scenario.name,
    arm,
    sidecars,
    seed,
    rateFactor,
    attempt: 1,
    seconds,
    commit: '0123abc',
    cores: 2,
    disturbances: character.disturbances ?? [],
    lateP99Ms: 3,
    machineCpu: 0.5,
    requests: {
      atMs: rows.map(({ atMs }) => atMs),
      long: rows.map(() => 0),
      outcome: rows.map(({ outcome }) => outcome),
      firstTokenMs: rows.map(({ firstTokenMs }) => firstTokenMs),
      endMs: rows.map(({ endMs }) => endMs),
      backend: rows.map(({ backend }) => backend),
    },
    spread: {
      insideCv: 0.25,
      served: Array.from({ length: scenario.backends }, () => 1 / scenario.backends),
    },
    envoyCpuSeconds: 0.4,
    controlPlane: plimsoll
      ? { pushes: 45, healthFlips: 2, delayP50: 0.01, delayP99: 0.05, cpuSeconds: 0.3 }
      : null,
    ...character.changes,
  };
}
