import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { availableParallelism, cpus } from 'node:os';
import { VLLM } from '../../src/collect/engines/vllm.ts';
import { namesOf } from '../../src/collect/engines/engine.ts';
import { parseExposition } from '../../src/collect/exposition.ts';
import { LineFinder } from '../../src/collect/line-finder.ts';
import { IDLE, vllmPage } from '../support/vllm-page.ts';

/**
 * Our parser on a 40 kB and a 1 MB page, as ratios, against
 * - a bare newline scan of the same bytes: a loop over `Buffer.indexOf(10)`, the fastest that JavaScript has
 *   (a loop over the bytes themselves takes seven to eleven times as long);
 * - `parse-prometheus-text-format` from npm, which decodes the page and parses all of it.
 * All run in turns in one process. Each figure is a median; ratios are medians of the ratios of each round, so that
 * other load on the machine meets both sides.
 */
const NEWLINE_SCAN_LIMIT = 3;
const WARM_UP_ROUNDS = 20;
const ROUNDS = 101;
const ROUND_BYTES = 2_000_000;

const require = createRequire(import.meta.url);
const parseWhole = require('parse-prometheus-text-format') as (page: string) => unknown[];
const wanted = new LineFinder(namesOf(VLLM));

function newlines(page: Buffer): number {
  let count = 0;
  for (let at = page.indexOf(10); at !== -1; at = page.indexOf(10, at + 1)) count++;
  return count;
}

const subjects = {
  scan: (page: Buffer) => newlines(page),
  ours: (page: Buffer) => parseExposition(page, wanted)?.size ?? 0,
  npm: (page: Buffer) => parseWhole(page.toString('utf8')).length,
};
type Subject = keyof typeof subjects;

/** Microseconds for one page in each round, by subject. */
function measure(page: Buffer, rounds: number): Record<Subject, readonly number[]> {
  const times: Record<Subject, number[]> = { scan: [], ours: [], npm: [] };
  const names = Object.keys(subjects) as Subject[];
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const repeats = name === 'npm' ? 1 : Math.ceil(ROUND_BYTES / page.length);
      const begin = performance.now();
      for (let i = 0; i < repeats; i++) assert.ok(subjects[name](page) > 0);
      times[name].push(((performance.now() - begin) * 1000) / repeats);
    }
  }
  return times;
}

function medianRatio(over: readonly number[], under: readonly number[]): number {
  return median(over.map((time, round) => time / (under[round] ?? Number.NaN)));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** A page of as many engines as give at least so many bytes. */
function pageOf(bytes: number): Buffer {
  for (let engines = 1; ; engines++) {
    const values = Array.from({ length: engines }, () => ({ ...IDLE, waiting: 3, kvUsage: 0.25 }));
    const page = Buffer.from(vllmPage(values));
    if (page.length >= bytes) return page;
  }
}

console.log(`${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`);
for (const bytes of [40_000, 1_000_000]) {
  const page = pageOf(bytes);
  measure(page, WARM_UP_ROUNDS);
  const { scan, ours, npm } = measure(page, ROUNDS);
  const ratio = medianRatio(ours, scan);
  console.log(
    `${page.length} bytes, ${newlines(page)} lines: ` +
      `newline scan ${median(scan).toFixed(1)} µs, ours ${median(ours).toFixed(1)} µs, ` +
      `parse-prometheus-text-format ${median(npm).toFixed(0)} µs; ` +
      `ours is ${ratio.toFixed(2)} newline scans (limit ${NEWLINE_SCAN_LIMIT}), ` +
      `parse-prometheus-text-format ${medianRatio(npm, ours).toFixed(0)} times ours`,
  );
  assert.ok(ratio <= NEWLINE_SCAN_LIMIT, `${ratio.toFixed(2)} newline scans is over ${NEWLINE_SCAN_LIMIT}`);
}
