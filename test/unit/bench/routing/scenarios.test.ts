import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Scenario } from '../../../bench/routing/model.ts';
import {
  countedSeconds,
  judgedSeconds,
  QUICK_SCENARIOS,
  SCENARIOS,
} from '../../../bench/routing/scenarios.ts';

function isLongOverload({ stay, stretches }: Scenario): boolean {
  return stay === 'long' && stretches.some(({ load }) => load > 1);
}

test('names are unique and fit into the name of a file', () => {
  const names = SCENARIOS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[a-z0-9.-]+$/);
});

test('a cell lasts 45 to 60 s after 10 to 15 s of warm-up, but an overload of requests that stay for long', () => {
  for (const scenario of SCENARIOS.filter((one) => !isLongOverload(one))) {
    const seconds = countedSeconds(scenario);
    assert.ok(seconds >= 45 && seconds <= 60, `${scenario.name}: ${seconds}`);
    assert.ok(scenario.warmUpSeconds >= 10 && scenario.warmUpSeconds <= 15, scenario.name);
  }
});

test('an overload of requests that stay for 8 s is counted when slots are full, and for ten stays', () => {
  const overloads = SCENARIOS.filter(isLongOverload);
  assert.equal(overloads.length, 3);
  for (const scenario of overloads) {
    assert.ok(scenario.warmUpSeconds >= 40, scenario.name);
    assert.ok(judgedSeconds(scenario) >= 80, scenario.name);
  }
});

test('everything happens to a backend that is there, within the counted time', () => {
  for (const scenario of SCENARIOS)
    for (const { atSeconds, backend } of scenario.happenings ?? []) {
      assert.ok(backend < scenario.backends, scenario.name);
      assert.ok(atSeconds > 0 && atSeconds < countedSeconds(scenario), scenario.name);
    }
});

test('after an overload comes a fall long enough to see a recovery in 15 s', () => {
  const overloads = SCENARIOS.filter(({ stretches }) => stretches.some(({ load }) => load > 1));
  assert.ok(overloads.length >= 6);
  for (const scenario of overloads) {
    const fall = countedSeconds(scenario) - judgedSeconds(scenario);
    assert.ok(judgedSeconds(scenario) >= 25 && fall >= 20, `${scenario.name}: ${fall}`);
    assert.ok(Number.isInteger(judgedSeconds(scenario)), scenario.name);
  }
});

test('without an overload all of the counted time is judged', () => {
  const calm = SCENARIOS.filter(({ stretches }) => stretches.every(({ load }) => load <= 1));
  for (const scenario of calm) assert.equal(judgedSeconds(scenario), countedSeconds(scenario));
});

test('the quick ones are the same fleets for a shorter time', () => {
  assert.equal(QUICK_SCENARIOS.length, 3);
  for (const quick of QUICK_SCENARIOS) {
    const full = SCENARIOS.find(({ name }) => name === quick.name);
    assert.deepEqual(quick.slowness, full?.slowness);
    assert.ok(countedSeconds(quick) <= 25);
  }
});
