import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Arm } from './arm.ts';

/** Of the repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BENCH = 'test/bench/routing';
/**
 * Files of the bench that no measured figure depends on: they plan, keep, judge and show, and what they ask of a cell is
 * in its specification. A file that is not named here makes another version when it changes: the safe side.
 */
export const BESIDE: ReadonlySet<string> = new Set(
  [
    'bootstrap.ts',
    'cell-store.ts',
    'comparison.ts',
    'goals.ts',
    'judge.ts',
    'main.ts',
    'markdown.ts',
    'measures.ts',
    'numerals.ts',
    'picture.ts',
    'planner.ts',
    'player.ts',
    'product.ts',
    'progress.ts',
    'report.ts',
    'row.ts',
    'scenarios.ts',
    'statistics.ts',
  ].map((name) => join(BENCH, name)),
);

/** What `npm run build` makes of the locked dependencies is not here on a fresh checkout, and would say nothing new. */
const GENERATED = join('protos', 'generated');

/**
 * All of `src` that figures of an arm of Envoy alone depend on: no control plane is started for it, nothing is scraped, and
 * its configuration is always the same.
 */
const OF_ENVOY = ['commands/bootstrap.ts', 'demo/', 'runtime/'].map((name) => join('src', name));
const SCRAPED = join('src', 'demo', 'lean-page.ts');

/**
 * The version of what is measured in an arm: 12 hexadecimal digits over the contents of the product, its locked
 * dependencies and the part of the bench that plays a cell. A commit that touches only documents keeps it, an edit without
 * commit does not; one of the weight rule keeps that of Envoy alone.
 */
export function productVersion(kind: Arm['kind']): string {
  const hash = createHash('sha256');
  for (const file of measuredFiles(kind))
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 12);
}

/** Of which {@link productVersion} is, in the order in which they count. */
export function measuredFiles(kind: Arm['kind'] = 'plimsoll'): readonly string[] {
  const files = ['src', 'protos', BENCH].flatMap(filesBelow);
  const isRun = (file: string): boolean =>
    kind === 'plimsoll' ||
    !file.startsWith('src') ||
    (file !== SCRAPED && OF_ENVOY.some((part) => file.startsWith(part)));
  return [
    'package-lock.json',
    ...files.filter((file) => !BESIDE.has(file) && dirname(file) !== GENERATED && isRun(file)).toSorted(),
  ];
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath.slice(ROOT.length), name));
}
