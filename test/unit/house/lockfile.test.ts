import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

interface Manifest {
  readonly engines: { readonly node: string };
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8'));
const manifest = read('package.json') as Manifest;
const lock = read('package-lock.json') as { readonly packages: Record<string, LockedPackage> };
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

/** The oldest Node that package.json admits. */
const OLDEST = [20, 19, 0] as const;

test('the lock file names no host, so that any registry will do', () => {
  assert.ok(packages.length > 50, `${packages.length} packages`);
  assert.deepEqual(
    packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
    [],
  );
});

test('the oldest Node of package.json is admitted by every dependency', () => {
  assert.equal(manifest.engines.node, `>=${OLDEST.join('.')}`);
  const refusing = packages.filter(([, { dev, engines }]) => dev !== true && !admits(engines?.node ?? '*'));
  assert.deepEqual(
    refusing.map(([path, { engines }]) => `${path}: ${engines?.node}`),
    [],
  );
});

test('the ranges are read as npm reads them', () => {
  const admitted = [
    '*',
    '>=20',
    '>= 10.x',
    '^16 || ^18 || >=20',
    '6.* || 8.* || >= 10.*',
    '>=20.18.1',
    '^20.19.0',
    '20.x',
  ];
  const refused = ['>=22', '^18', '>=20.19.1', '^20.20.0', '^16 || ^18', '18.x', '>=20.20', '>=16 <20'];
  assert.deepEqual(
    admitted.filter((range) => !admits(range)),
    [],
  );
  assert.deepEqual(refused.filter(admits), []);
});

/** Whether {@link OLDEST} is in a range of the kinds that `engines` have: `||` of comparators that all must hold. */
function admits(range: string): boolean {
  return range.split('||').some((part) =>
    part
      .replaceAll(/(?<=[<>=^~])\s+/g, '')
      .trim()
      .split(/\s+/)
      .every(holds),
  );
}

function holds(comparator: string): boolean {
  const match = /^(>=|<=|>|<|\^|~|=?)v?(\*|\d+)(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?$/.exec(comparator);
  assert.ok(match !== null, `${comparator} is a kind of range that this test does not know`);
  const [, operator = '', ...texts] = match;
  const given = texts.map((text) => (text === undefined || /[x*]/.test(text) ? undefined : Number(text)));
  const order = compare(
    OLDEST,
    given.map((part) => part ?? 0),
  );
  /** How many leading parts must be equal, where that is asked for. */
  const fixed = given.findIndex((part) => part === undefined);
  const same = (parts: number): boolean =>
    given.slice(0, parts).every((part, index) => part === OLDEST[index]);
  switch (operator) {
    case '>=':
      return order >= 0;
    case '>':
      return order > 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '^':
      return order >= 0 && same(1);
    case '~':
      return order >= 0 && same(fixed === 1 ? 1 : 2);
    default:
      return same(fixed === -1 ? 3 : fixed);
  }
}

function compare(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((part, at) => part !== other[at]);
  return index === -1 ? 0 : (one[index] ?? 0) - (other[index] ?? 0);
}
