import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Backend } from '../../../src/core/model/backend.ts';
import { type ListOrigin, Membership } from '../../../src/discovery/membership.ts';
import { backend } from '../../support/decisions.ts';

const DRAIN_SECONDS = 30;
const S = 1000;

/** Backends by their last number; those with a minus in front say that they drain. */
function list(...numbers: readonly number[]): readonly Backend[] {
  return numbers.map((n) => (n < 0 ? { ...backend(-n), draining: true } : backend(n)));
}

class Bench {
  readonly membership = new Membership(DRAIN_SECONDS);

  constructor(...first: readonly number[]) {
    this.membership.take(list(...first), 0, 'first');
  }

  take(atMs: number, ...numbers: readonly number[]): void {
    this.takeAs('found', atMs, ...numbers);
  }

  takeAs(origin: ListOrigin, atMs: number, ...numbers: readonly number[]): void {
    this.membership.take(list(...numbers), atMs, origin);
  }

  /** As in {@link list}. */
  at(nowMs: number): readonly number[] {
    this.membership.tick(nowMs);
    return this.membership.servers.map(({ address, draining }) => {
      const n = Number(address.split('.').at(-1));
      return draining === true ? -n : n;
    });
  }
}

describe('who leaves', () => {
  test('is draining for DrainSeconds, then gone', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(10 * S, 1, 2);
    assert.deepEqual(bench.at(10 * S), [1, 2, -3]);
    assert.deepEqual(bench.membership.draining, [{ id: backend(3).id, atMs: 40 * S }]);
    assert.equal(bench.membership.dueMs, 40 * S);
    assert.deepEqual(bench.at(40 * S - 1), [1, 2, -3]);
    assert.deepEqual(bench.at(40 * S), [1, 2]);
    assert.equal(bench.membership.dueMs, undefined);
  });

  test('and comes back meanwhile, takes requests again', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(10 * S, 1, 2);
    bench.take(20 * S, 1, 2, 3);
    assert.deepEqual(bench.at(60 * S), [1, 2, 3]);
    assert.deepEqual(bench.membership.draining, []);
  });

  test('is not drained anew by each list that lacks it', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(10 * S, 1, 2);
    bench.take(30 * S, 1, 2);
    assert.deepEqual(bench.at(40 * S), [1, 2]);
  });

  test('another DrainSeconds counts for those that leave from then on', () => {
    const bench = new Bench(1, 2, 3, 4);
    bench.take(0, 1, 2, 3);
    bench.membership.drainFor(5);
    bench.take(S, 1, 2);
    assert.deepEqual(bench.at(6 * S), [1, 2, -4]);
    assert.deepEqual(bench.at(30 * S), [1, 2]);
  });

  test('without a place on the list after its source said that it drains, has drained since then', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(10 * S, 1, 2, -3);
    assert.deepEqual(bench.membership.draining, [{ id: backend(3).id, atMs: undefined }]);
    bench.take(30 * S, 1, 2);
    assert.deepEqual(bench.at(30 * S), [1, 2, -3]);
    assert.deepEqual(bench.at(40 * S), [1, 2]);
    const slow = new Bench(1, 2, -3);
    slow.take(50 * S, 1, 2);
    assert.deepEqual(slow.at(50 * S), [1, 2]);
  });
});

describe('a list that lacks most', () => {
  const cases: readonly (readonly [name: string, before: readonly number[], next: readonly number[]])[] = [
    ['is empty', [1, 2, 3, 4], []],
    ['is empty, after a single one', [1], []],
    ['lacks more than half', [1, 2, 3, 4, 5], [4, 5]],
    ['has as many others', [1, 2, 3], [4, 5, 6]],
    ['says of none that is left that it drains', [1, 2, 3, 4, -5, -6, -7, -8, -9], [4, -5, -6, -7, -8, -9]],
  ];
  for (const [name, before, next] of cases) {
    test(`${name}: all stay for a minute, then they drain`, () => {
      const bench = new Bench(...before);
      bench.take(10 * S, ...next);
      const missing = before.filter((n) => !next.includes(n)).toSorted((a, b) => a - b);
      const during = [...before, ...next.filter((n) => !before.includes(n))];
      assert.deepEqual(bench.at(70 * S - 1), during);
      assert.deepEqual(
        bench.membership.doubted.map(({ id, atMs }) => [id, atMs]),
        missing.map((n) => [backend(n).id, 70 * S]),
      );
      assert.deepEqual(
        bench.at(70 * S),
        during.map((n) => (missing.includes(n) ? -n : n)),
      );
      assert.deepEqual(bench.membership.doubted, []);
      assert.deepEqual(
        bench.at(100 * S),
        during.filter((n) => !missing.includes(n)),
      );
    });
  }

  test('half is not most', () => {
    const bench = new Bench(1, 2, 3, 4);
    bench.take(0, 3, 4);
    assert.deepEqual(bench.at(0), [-1, -2, 3, 4]);
  });

  test('those that are new join at once, and do not make it half', () => {
    const bench = new Bench(1, 2, 3, 4);
    bench.take(0, 4, 5, 6, 7, 8, 9);
    assert.deepEqual(bench.at(0), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    bench.take(10 * S, 4, 5, 6, 7, 8, 9);
    assert.deepEqual(bench.at(10 * S), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.deepEqual(bench.at(60 * S), [-1, -2, -3, 4, 5, 6, 7, 8, 9]);
  });

  test('ends with one that has most: then who is still missing leaves', () => {
    const bench = new Bench(1, 2, 3, 4);
    bench.take(0);
    bench.take(5 * S, 1, 2, 3);
    assert.deepEqual(bench.at(5 * S), [1, 2, 3, -4]);
    assert.deepEqual(bench.membership.doubted, []);
  });

  test('has to stand in one piece for each: who was back in between has a minute of its own', () => {
    const bench = new Bench(1, 2, 3, 4, 5);
    bench.take(0, 5);
    bench.take(50 * S, 1, 5);
    bench.take(55 * S, 5);
    assert.deepEqual(bench.at(60 * S), [1, -2, -3, -4, 5]);
    assert.deepEqual(bench.at(115 * S), [-1, 5]);
  });

  test('a source that fails does not make it stand', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(0);
    bench.membership.failed();
    assert.equal(bench.membership.dueMs, undefined);
    assert.equal(bench.membership.doubted[0]?.atMs, undefined);
    assert.deepEqual(bench.at(600 * S), [1, 2, 3]);
    bench.take(600 * S);
    assert.deepEqual(bench.at(660 * S - 1), [1, 2, 3]);
    assert.deepEqual(bench.at(660 * S), [-1, -2, -3]);
  });

  test('one step after the other is no outage', () => {
    const bench = new Bench(1, 2, 3, 4);
    bench.take(0, 1, 2, 3);
    bench.take(S, 1, 2);
    assert.deepEqual(bench.at(S), [1, 2, -3, -4]);
  });

  test('after all drained is no outage', () => {
    const bench = new Bench(1, 2);
    bench.take(0, -1, -2);
    bench.take(5 * S);
    assert.deepEqual(bench.at(5 * S), [-1, -2]);
    assert.deepEqual(bench.membership.doubted, []);
    assert.deepEqual(bench.at(30 * S), []);
  });

  test('of an operator is believed, as the first one of another source is', () => {
    for (const origin of ['configured', 'first'] as const) {
      const bench = new Bench(1, 2, 3);
      bench.takeAs(origin, 0, 4);
      assert.deepEqual(
        bench.at(0).toSorted((a, b) => a - b),
        [-3, -2, -1, 4],
      );
      assert.deepEqual(bench.membership.doubted, []);
    }
  });
});

describe('when all that a source tells drain', () => {
  test('they take requests, until there is another one', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(10 * S, -1, -2, 3);
    assert.equal(bench.membership.isLastResort, false);
    bench.take(20 * S, -1, -2, -3);
    assert.deepEqual(bench.at(20 * S), [1, 2, 3]);
    assert.equal(bench.membership.isLastResort, true);
    assert.deepEqual(bench.membership.draining, []);
    bench.take(30 * S, -1, -2, -3, 4);
    assert.deepEqual(bench.at(30 * S), [-1, -2, -3, 4]);
    assert.equal(bench.membership.isLastResort, false);
    assert.equal(bench.membership.draining.length, 3);
  });

  test('those that it does not tell any more drain', () => {
    const bench = new Bench(1, 2, 3);
    bench.take(10 * S, -1, -2, -3);
    bench.take(20 * S, -1);
    assert.deepEqual(bench.at(20 * S), [1, -2, -3]);
    bench.take(25 * S);
    assert.deepEqual(bench.at(25 * S), [-1, -2, -3]);
    assert.deepEqual(bench.at(40 * S), []);
  });

  test('one without a weight is nobody who takes requests, and takes none', () => {
    const bench = new Bench();
    const idle = { ...backend(1), weight: 0 };
    bench.membership.take([idle, ...list(-2), { ...idle, ...list(-3)[0], weight: 0 }], 0, 'first');
    assert.deepEqual(bench.at(0), [1, 2, -3]);
    bench.membership.take([idle, ...list(2)], 0, 'found');
    assert.equal(bench.membership.isLastResort, false);
  });

  test('one that is missing and not believed to be gone takes requests alone', () => {
    const bench = new Bench(1, 2, 3, -4);
    bench.take(10 * S, -4);
    assert.deepEqual(bench.at(10 * S), [1, 2, 3, -4]);
    assert.deepEqual(bench.at(70 * S), [-1, -2, -3, 4]);
  });
});

describe('many', () => {
  /** 10,000 that nobody else has. */
  const fleet = (number: number): readonly Backend[] =>
    Array.from({ length: 10_000 }, (_, index) => {
      const address = `10.${number}.${index >> 8}.${index & 255}`;
      return { ...backend(1), id: `${address}:8000`, address };
    });

  test('others with each list are no more than twice the most of a group: the oldest go first', () => {
    const { membership } = new Bench();
    membership.take(fleet(0), 0, 'first');
    for (let number = 1; number <= 5; number++) {
      membership.take(fleet(number), number * S, 'found');
      assert.equal(membership.servers.length, 20_000);
    }
    const fleets = new Set(membership.servers.map(({ address }) => address.split('.')[1]));
    assert.deepEqual([...fleets], ['4', '5']);
  });

  test('that leave go before those that are doubted', () => {
    const { membership } = new Bench();
    membership.take(fleet(0), 0, 'first');
    membership.take(fleet(0).slice(0, 6_000), S, 'found');
    membership.take(fleet(1), 2 * S, 'found');
    assert.deepEqual([membership.doubted.length, membership.draining.length], [6_000, 4_000]);
    membership.take([...fleet(1), ...fleet(2)].slice(5_000, 15_000), 3 * S, 'found');
    assert.deepEqual([membership.doubted.length, membership.draining.length], [10_000, 0]);
  });
});

describe('the list of those that are there', () => {
  test('is the same object while nothing is another', () => {
    const bench = new Bench(1, 2);
    const before = bench.membership.servers;
    bench.take(S, 2, 1);
    assert.equal(bench.membership.servers, before);
  });

  const changes: readonly (readonly [string, Partial<Backend>])[] = [
    ['weight', { weight: 7 }],
    ['zone', { zone: 'a' }],
    ['port of its metrics', { metrics: { port: 9 } }],
    ['path of its metrics', { metrics: { path: '/m' } }],
  ];
  for (const [name, change] of changes) {
    test(`is another one with another ${name}, at once`, () => {
      const bench = new Bench(1, 2);
      bench.membership.take([backend(1), { ...backend(2), ...change }], 0, 'found');
      assert.deepEqual(bench.membership.servers, [backend(1), { ...backend(2), ...change }]);
    });
  }

  test('is by address where it is found, and as it is written where it is configured', () => {
    const bench = new Bench(3, 1, 2);
    assert.deepEqual(bench.at(0), [1, 2, 3]);
    bench.takeAs('configured', 0, 3, 1);
    assert.deepEqual(bench.at(0), [3, 1, -2]);
  });
});
