import { type CellResult, type Scenario, SLO_SECONDS } from './model.ts';
import { countedSeconds, judgedSeconds } from './scenarios.ts';
import { mean, standardDeviation } from './statistics.ts';

/** Blocks of the bootstrap. */
const BLOCK_SECONDS = 5;
/** Recovered: from some second on this many in a row have nearly all first tokens in time. */
const RECOVERED = { seconds: 5, share: 0.95 } as const;
/** What the 503s of every arm say in `retry-after`. */
const RETRY_AFTER_MS = 1_000;

/** What happened in a window of time: to requests by their planned arrival, to attempts by when each was made. */
export interface Tally {
  readonly offered: number;
  /** Of the offered requests, those that missed their SLO. */
  readonly missed: number;
  /** More than one of a request that was sent again. */
  readonly attempts: number;
  /** Of the attempts, those that were answered with a 503. */
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
 * How much the 503s come and go: the standard deviation of their share of the attempts over the seconds of the judged
 * time. Seconds without an attempt are left out.
 */
export function shedDeviation(scenario: Scenario, cell: CellResult): number {
  const seconds = tallyWindows(scenario, cell, 1).filter(({ attempts }) => attempts > 0);
  return standardDeviation(seconds.map(({ attempts, shed }) => shed / attempts));
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
    attempts: 0,
    shed: 0,
  }));
  for (const index of judgedRequests(scenario, cell)) {
    const window = windows[Math.floor(cell.requests.atMs[index]! / 1_000 / seconds)]!;
    window.offered++;
    window.missed += Number(!isGood(cell, index));
  }
  const endMs = 1_000 * judgedSeconds(scenario);
  for (const { atMs, shed } of attemptsOf(cell)) {
    const window = atMs < endMs ? windows[Math.floor(atMs / 1_000 / seconds)] : undefined;
    if (window === undefined) continue;
    window.attempts++;
    window.shed += Number(shed);
  }
  return windows;
}

/**
 * A request that was sent again was refused at its planned arrival; its outcome is that of the second attempt. Attempts
 * of the first second lack those again of the warm-up's last, which a cell does not hold.
 */
function attemptsOf({ requests }: CellResult): readonly { readonly atMs: number; readonly shed: boolean }[] {
  return requests.atMs.flatMap((atMs, index) => {
    const shed = requests.outcome[index] === 'shed';
    if (requests.retried?.[index] !== 1) return [{ atMs, shed }];
    return [
      { atMs, shed: true },
      { atMs: atMs + RETRY_AFTER_MS, shed },
    ];
  });
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
