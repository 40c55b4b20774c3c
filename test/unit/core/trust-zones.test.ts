import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { Fleet, sampleOf } from '../../support/fleet.ts';

const ZONES = ['a', 'a', 'b', 'b'];
const MINUTES = 5;

/** So many requests a second come to each backend and stay for a second, by its metrics. */
function afterMinutes(rates: readonly number[]): GroupDecision {
  const servers = ZONES.map((zone, index) => backend(index + 1, { zone }));
  return new Fleet(servers, { locality: 'Prefer' }).steps(MINUTES * 60, (step) =>
    rates.map((rate) => sampleOf({ running: rate, finished: rate * step })),
  );
}

const doubted = ({ backends }: GroupDecision): readonly boolean[] => backends.map((of) => of.doubted);

test('zones that keep their requests may have as many as they like', () => {
  assert.deepEqual(doubted(afterMinutes([4, 4, 0, 0])), [false, false, false, false]);
  assert.deepEqual(doubted(afterMinutes([8, 8, 1, 1])), [false, false, false, false]);
});

test('who tells of none of what its zone gets is doubted', () => {
  assert.deepEqual(doubted(afterMinutes([0, 8, 4, 4])), [true, false, false, false]);
});
