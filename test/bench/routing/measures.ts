import { type CellResult, type Scenario, SLO_SECONDS } from './model.ts';
import { countedSeconds, judgedSeconds } from './scenarios.ts';
import { mean, standardDeviation } from './statistics.ts';

/** Blocks of the bootstrap. */
const BLOCK_SECONDS = 5;
/** Recovered: from some second on this many in a row have nearly all first tokens in time. */
const RECOVERED = { seconds: 5, share: 0.95 } as const;

/** How many requests were offered, and how many of them missed their SLO or were refused. */
export interface Tally {
  readonly offered: number;
  readonly missed: number;
  readonly shed: number;
}

/** From the planned arrival; infinite: still waiting when the cell ended. */
export interface Time {
  readonly ms: number;
  /** Block of the arrival. */
  readonly block: number;
}

/** Of every block of 5 s of the judged time, in order; every cell of a scenario has the same number of them. */
export function tallyBlocks(scenario: Scenario, cell: CellResult): readonly Tally[] {
  return tallyWindows(scenario, cell, BLOCK_SECONDS);
}

/**
 * How much the 503s come and go: the standard deviation of their share over the seconds of the judged time. Seconds
 * without a request are left out.
 */
export function shedDeviation(scenario: Scenario, cell: CellResult): number {
  const seconds = tallyWindows(scenario, cell, 1).filter(({ offered }) => offered > 0);
  return standardDeviation(seconds.map(({ offered, shed }) => shed / offered));
}

/** Until the first token. A request that was refused or failed has none and is left out. */
export function firstTokenTimes(scenario: Scenario, cell: CellResult): readonly Time[] {
  const { firstTokenMs, outcome } = cell.requests;
  return timesOf(scenario, cell, (index) =>
    outcome[index] === 'failed' ? null : (firstTokenMs[index] ?? null),
  );
}

/** Until the last byte of those that came to their end, and infinite for those that were still on their way. */
export function endTimes(scenario: Scenario, cell: CellResult): readonly Time[] {
  const { endMs, outcome } = cell.requests;
  return timesOf(scenario, cell, (index) => (outcome[index] === 'ok' ? (endMs[index] ?? null) : null));
}

/**
 * Seconds from the fall of the load until first tokens are in time again; undefined in a scenario without a fall,
 * infinite when it does not happen.
 */
export function recoverySeconds(scenario: Scenario, cell: CellResult): number | undefined {
  const fall = judgedSeconds(scenario);
  const rest = Math.floor(countedSeconds(scenario) - fall);
  if (rest <= 0) return undefined;
  const good = Array.from({ length: rest }, (): number[] => []);
  for (const [index, atMs] of cell.requests.atMs.entries())
    good[Math.floor(atMs / 1_000 - fall)]?.push(Number(isGood(cell, index)));
  for (let second = 0; second + RECOVERED.seconds <= rest; second++) {
    const share = mean(good.slice(second, second + RECOVERED.seconds).flat());
    if (share >= RECOVERED.share) return second;
  }
  return Number.POSITIVE_INFINITY;
}

/** Whether the cell goes on long enough after the fall to see a recovery that takes that long. */
export function showsRecovery(scenario: Scenario, seconds: number): boolean {
  return countedSeconds(scenario) - judgedSeconds(scenario) >= seconds + RECOVERED.seconds;
}

/** The first token within the SLO of the prompt, from a request that did not fail after it. */
function isGood({ requests }: CellResult, index: number): boolean {
  const firstTokenMs = requests.firstTokenMs[index];
  if (firstTokenMs == null || requests.outcome[index] === 'failed') return false;
  return firstTokenMs <= 1_000 * (requests.long[index] === 1 ? SLO_SECONDS.long : SLO_SECONDS.chat);
}

function tallyWindows(scenario: Scenario, cell: CellResult, seconds: number): readonly Tally[] {
  const windows = Array.from({ length: Math.ceil(judgedSeconds(scenario) / seconds) }, () => ({
    offered: 0,
    missed: 0,
    shed: 0,
  }));
  for (const index of judgedRequests(scenario, cell)) {
    const window = windows[Math.floor(cell.requests.atMs[index]! / 1_000 / seconds)]!;
    window.offered++;
    window.missed += Number(!isGood(cell, index));
    window.shed += Number(cell.requests.outcome[index] === 'shed');
  }
  return windows;
}

/** @param timeOf null: the request has no such time. */
function timesOf(
  scenario: Scenario,
  cell: CellResult,
  timeOf: (index: number) => number | null,
): readonly Time[] {
  return judgedRequests(scenario, cell).flatMap((index) => {
    const block = Math.floor(cell.requests.atMs[index]! / 1_000 / BLOCK_SECONDS);
    const waits = cell.requests.outcome[index] === 'unfinished';
    const ms = timeOf(index) ?? (waits ? Number.POSITIVE_INFINITY : null);
    return ms === null ? [] : [{ ms, block }];
  });
}

function judgedRequests(scenario: Scenario, { requests }: CellResult): readonly number[] {
  const endMs = 1_000 * judgedSeconds(scenario);
  return [...requests.atMs.keys()].filter(
    (index) => requests.atMs[index]! >= 0 && requests.atMs[index]! < endMs,
  );
}
