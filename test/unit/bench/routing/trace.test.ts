import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CellSpec, Scenario } from '../../../bench/routing/model.ts';
import { capacityOf } from '../../../bench/routing/stays.ts';
import { fleetCapacity, membersAtStart, traceOf } from '../../../bench/routing/trace.ts';

function spec(scenario: Partial<Scenario> = {}, of: Partial<CellSpec> = {}): CellSpec {
  return {
    scenario: {
      name: 'test',
      title: 'test',
      backends: 8,
      stay: 'short',
      warmUpSeconds: 10,
      stretches: [{ seconds: 600, load: 0.8 }],
      ...scenario,
    },
    arm: 'adaptive',
    sidecars: 4,
    seed: 1,
    rateFactor: 1,
    ...of,
  };
}

/** Offered requests per second between two times. */
function rate(of: CellSpec, fromSeconds: number, toSeconds: number): number {
  const inside = traceOf(of).filter(({ atMs }) => atMs >= fromSeconds * 1000 && atMs < toSeconds * 1000);
  return inside.length / (toSeconds - fromSeconds);
}

function near(actual: number, expected: number, share: number): void {
  assert.ok(Math.abs(actual / expected - 1) < share, `${actual} is not ${expected}`);
}

describe('capacity', () => {
  test('is the same whenever it is asked for, and plausible', () => {
    for (const stay of ['short', 'long'] as const) {
      assert.equal(capacityOf(stay), capacityOf(stay));
      assert.ok(capacityOf(stay) > 4 && capacityOf(stay) < 10, `${stay}: ${capacityOf(stay)}`);
    }
  });

  test('a backend of half speed counts half, one that joins later not at all', () => {
    const { scenario } = spec({
      slowness: [1, 1, 1, 1, 2, 2, 2, 2],
      happenings: [{ atSeconds: 5, backend: 0, change: { kind: 'join' } }],
    });
    assert.deepEqual(membersAtStart(scenario), [1, 2, 3, 4, 5, 6, 7]);
    near(fleetCapacity(scenario), 5 * capacityOf('short'), 1e-9);
  });
});

describe('a trace', () => {
  test('is the same for every arm, and at other sidecars but for where requests go', () => {
    const trace = traceOf(spec());
    assert.deepEqual(trace, traceOf(spec({}, { arm: 'round-robin' })));
    const strip = ({ atMs, promptTokens, outputTokens }: (typeof trace)[number]) => [
      atMs,
      promptTokens,
      outputTokens,
    ];
    assert.deepEqual(trace.map(strip), traceOf(spec({}, { sidecars: 1 })).map(strip));
    assert.notDeepEqual(trace.map(strip), traceOf(spec({}, { seed: 2 })).map(strip));
  });

  test('has the rate of its load, and goes to all sidecars alike', () => {
    const of = spec();
    near(rate(of, 0, 610), 0.8 * fleetCapacity(of.scenario), 0.03);
    near(rate(spec({}, { rateFactor: 0.5 }), 0, 610), 0.4 * fleetCapacity(of.scenario), 0.04);
    const trace = traceOf(of);
    for (const sidecar of [0, 1, 2, 3]) {
      near(trace.filter((offered) => offered.sidecar === sidecar).length, trace.length / 4, 0.05);
    }
    assert.ok(trace.every(({ atMs }, index) => atMs >= (trace[index - 1]?.atMs ?? 0)));
  });

  test('follows its stretches; the warm-up has the load of the first', () => {
    const of = spec({
      warmUpSeconds: 200,
      stretches: [
        { seconds: 200, load: 1.5 },
        { seconds: 200, load: 0.5 },
      ],
    });
    const capacity = fleetCapacity(of.scenario);
    near(rate(of, 0, 200), 1.5 * capacity, 0.04);
    near(rate(of, 200, 400), 1.5 * capacity, 0.04);
    near(rate(of, 400, 600), 0.5 * capacity, 0.04);
  });

  test('bursts keep the mean', () => {
    const burst = { factor: 2, seconds: 3, everySeconds: 15 };
    const of = spec({ warmUpSeconds: 0, stretches: [{ seconds: 600, load: 0.7, burst }] });
    const capacity = fleetCapacity(of.scenario);
    near(rate(of, 0, 600), 0.7 * capacity, 0.03);
    const inBurst = traceOf(of).filter(({ atMs }) => (atMs / 1000) % 15 >= 12);
    near(inBurst.length / 120, 1.4 * capacity, 0.06);
  });

  test('cancels the share that is asked for', () => {
    const trace = traceOf(spec({ cancelledShare: 0.3 }));
    near(trace.filter(({ cancelled }) => cancelled).length, 0.3 * trace.length, 0.05);
    assert.ok(traceOf(spec()).every(({ cancelled }) => !cancelled));
  });
});
