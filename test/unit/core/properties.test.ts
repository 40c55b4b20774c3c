import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PolicyName } from '../../../src/core/model/balance-settings.ts';
import type { Sample } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { type Answer, backends, Fleet, type FleetOptions, one, SCORERS } from '../../support/fleet.ts';

const SEED = { seed: 20_260 };

const gauges = fc.record({
  queued: fc.integer({ min: 0, max: 60 }),
  running: fc.integer({ min: 0, max: 300 }),
  kvUtilization: fc.double({ min: 0, max: 1, noNaN: true }),
});
const policy = fc.constantFrom<PolicyName>('Adaptive', 'Linear');
const failure = fc.constantFrom<Answer>('timeout', 'refused', 'status', undefined);
const interval = fc.constantFrom(1, 5, 15, 50);

/** A history: for each evaluation one answer for each backend. */
const history = (backendCount: number, answer: fc.Arbitrary<Answer>) =>
  fc.array(fc.array(answer, { minLength: backendCount, maxLength: backendCount }), {
    minLength: 1,
    maxLength: 40,
  });

function sizedHistory(answer: fc.Arbitrary<Answer>) {
  return fc.integer({ min: 1, max: 9 }).chain((count) =>
    fc.record({
      weights: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: count, maxLength: count }),
      rounds: history(count, answer),
      policy,
      intervalSeconds: interval,
    }),
  );
}

const answers = fc.oneof({ arbitrary: gauges, weight: 3 }, { arbitrary: failure, weight: 1 });

function run({
  weights,
  rounds,
  ...options
}: {
  readonly weights: readonly number[];
  readonly rounds: readonly (readonly Answer[])[];
} & FleetOptions): readonly GroupDecision[] {
  const fleet = new Fleet(
    weights.map((weight, index) => backend(index + 1, { weight })),
    options,
  );
  return rounds.map((round) => fleet.step(round));
}

test('whatever happens the assignment is fit to be published', () => {
  fc.assert(
    fc.property(
      sizedHistory(answers),
      fc.constantFrom('Keep' as const, 'Remove' as const),
      (input, onCollectFailure) => {
        for (const decision of run({ ...input, onCollectFailure })) {
          const { endpoints } = decision.assignment;
          assert.ok(endpoints.every(({ weight }) => Number.isInteger(weight) && weight >= 1));
          assert.ok(endpoints.reduce((sum, { weight }) => sum + weight, 0) < 2 ** 32 - 1);
          const taking = input.weights.filter((weight) => weight > 0).length;
          if (onCollectFailure === 'Keep') assert.equal(endpoints.length, taking);
          assert.equal(endpoints.length > 0, taking > 0, 'never emptied by a failed collection');
          for (const of of decision.backends) {
            for (const value of [
              of.deviation,
              of.capacity,
              of.relativeWeight,
              of.weight,
              of.share,
              of.score ?? 0,
            ]) {
              assert.ok(Number.isFinite(value));
            }
            assert.ok((of.score ?? 0) >= 0 && (of.score ?? 0) <= 100 + 1e-9);
          }
          const shares = decision.backends.reduce((sum, of) => sum + of.share, 0);
          const healthy = endpoints.some(({ health }) => health === 'HEALTHY');
          assert.ok(Math.abs(shares - (healthy ? 1 : 0)) < 1e-9);
        }
      },
    ),
    SEED,
  );
});

test('equal gauges, equal configured weights, nothing learned: exactly equal weights', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      gauges,
      policy,
      interval,
      (count, same, chosen, intervalSeconds) => {
        const decision = new Fleet(count, { policy: chosen, intervalSeconds }).step(
          backends(count).map(() => same),
        );
        assert.deepEqual(new Set(decision.backends.map((of) => of.weight)), new Set([100_000]));
      },
    ),
    SEED,
  );
});

/** What the load makes of a share by the gain and the deviations or scores that the decision shows. */
function boundedFactors(decision: GroupDecision, chosen: PolicyName): readonly number[] {
  const within = (most: number, factor: number) => Math.min(most, Math.max(0.1, factor));
  if (chosen === 'Adaptive')
    return decision.backends.map((of) => within(1.5, 1 + decision.gain * of.deviation));
  const scores = decision.backends.map((of) => (of.score ?? 0) / 100);
  const compared = scores.filter((_, index) => one(decision, index).use === 'fresh');
  const mean = compared.reduce((sum, score) => sum + score, 0) / compared.length;
  return scores.map((score) => within(2, 1 + 2 * decision.gain * (score - mean)));
}

test('every weight is configured weight, learned capacity and a factor of 0.1..1.5, Linear 0.1..2', () => {
  fc.assert(
    fc.property(sizedHistory(gauges), (input) => {
      for (const decision of run(input)) {
        if (decision.mode !== 'balanced') continue;
        const factors = boundedFactors(decision, input.policy);
        const units = decision.backends
          .map((of, index) => ({ of, factor: factors[index] ?? Number.NaN }))
          .filter(({ of }) => of.health !== undefined && !of.frozen)
          .map(({ of, factor }) => of.relativeWeight / (of.backend.weight * of.capacity * factor));
        for (const unit of units) assert.ok(Math.abs(unit / (units[0] ?? 0) - 1) < 1e-9, units.join());
      }
    }),
    SEED,
  );
});

/** A busy group in which everybody has the same load: at least 16 inside. */
const busy = fc.record({
  count: fc.integer({ min: 8, max: 40 }),
  running: fc.integer({ min: 16, max: 300 }),
  queued: fc.integer({ min: 0, max: 3 }),
  kvUtilization: fc.double({ min: 0.05, max: 0.9, noNaN: true }),
});

function changeOfOne(
  {
    count,
    running,
    queued,
    kvUtilization,
  }: { count: number; running: number; queued: number; kvUtilization: number },
  more: Partial<Sample>,
): number {
  const all = { running, queued, kvUtilization };
  const decision = new Fleet(count).step([{ ...all, ...more }, ...backends(count - 1).map(() => all)]);
  const { relativeWeight } = one(decision, 0);
  const other = one(decision, 1).relativeWeight;
  return 1 - relativeWeight / other;
}

test('one more running request moves a weight by less than 15 %, one more queued one by less than 60 %', () => {
  fc.assert(
    fc.property(busy, (load) => {
      const running = changeOfOne(load, { running: load.running + 1 });
      const queued = changeOfOne(load, { queued: load.queued + 1 });
      assert.ok(running > 0 && running < 0.15, `running: ${running}`);
      assert.ok(queued > 0 && queued < 0.6, `queued: ${queued}`);
    }),
    SEED,
  );
});

test('permuting backends permutes weights, and the assignment is the same to the byte', () => {
  fc.assert(
    fc.property(
      sizedHistory(answers).chain((input) =>
        fc.tuple(
          fc.constant(input),
          fc.shuffledSubarray([...input.weights.keys()], { minLength: input.weights.length }),
        ),
      ),
      ([input, order]) => {
        const servers = input.weights.map((weight, index) => backend(index + 1, { weight }));
        const straight = new Fleet(servers, input);
        const permuted = new Fleet(
          order.map((index) => servers[index] ?? backend(0)),
          input,
        );
        for (const round of input.rounds) {
          const expected = straight.step(round);
          const decision = permuted.step(order.map((index) => round[index]));
          assert.deepEqual(decision.assignment, expected.assignment);
          assert.deepEqual(
            decision.backends,
            order.map((index) => one(expected, index)),
          );
        }
      },
    ),
    SEED,
  );
});

test('a replica that restarts comes to what one with a past has: 1/e of the difference after 20 minutes', () => {
  const [intervalSeconds, steps] = [10, 120];
  const near = fc.record({
    queued: fc.integer({ min: 0, max: 2 }),
    running: fc.integer({ min: 40, max: 60 }),
    kvUtilization: fc.double({ min: 0.4, max: 0.6, noNaN: true }),
  });
  const count = 4;
  fc.assert(
    fc.property(history(count, gauges), history(count, near), (past, common) => {
      const veteran = new Fleet(count, { intervalSeconds });
      const novice = new Fleet(count, { intervalSeconds });
      const finishing = (rounds: readonly (readonly Answer[])[], step: number) =>
        (rounds[step % rounds.length] ?? []).map((load) =>
          typeof load === 'object' ? { ...load, finished: 100 * step } : load,
        );
      for (let step = 0; step < 40; step++) veteran.step(finishing(past, step));
      const together = (from: number) => {
        let both: readonly [GroupDecision, GroupDecision] | undefined;
        for (let step = from; step < from + steps; step++) {
          const answer = finishing(common, step);
          both = [veteran.step(answer), novice.step(answer)];
        }
        if (both === undefined) throw new Error('no step');
        return both;
      };
      const first = together(40);
      const second = together(40 + steps);
      assert.ok(Math.abs(second[0].staySeconds / second[1].staySeconds - 1) < 1e-6);
      const [early, late] = [first, second].map(([a, b]) => apart(a, b));
      assert.ok((late ?? 0) <= (early ?? 0) * Math.exp(-1) * 1.01 + 1e-9, `${early} to ${late}`);
      for (let times = 2; times < 8; times++) together(40 + times * steps);
      const [a, b] = together(40 + 8 * steps);
      const moved =
        a.backends.reduce((sum, of, index) => sum + Math.abs(of.share - one(b, index).share), 0) / 2;
      assert.ok(moved <= 2 * 0.02 + 0.002, `each is within what is not worth publishing: ${moved}`);
    }),
    { ...SEED, numRuns: 10 },
  );
});

/** Largest difference between two replicas in what they have learned of one backend against another. */
function apart(a: GroupDecision, b: GroupDecision): number {
  const logs = a.backends.map((of, index) => Math.log(of.capacity / one(b, index).capacity));
  return Math.max(...logs) - Math.min(...logs);
}

test('scaling all scorer weights changes nothing', () => {
  fc.assert(
    fc.property(sizedHistory(answers), (input) => {
      const scorers = SCORERS.map(({ name, weight }) => ({ name, weight: weight * 2 }));
      const plain = run(input);
      for (const [index, decision] of run({ ...input, scorers }).entries()) {
        assert.deepEqual(decision.assignment, plain[index]?.assignment);
      }
    }),
    SEED,
  );
});

test('the published shares are never further than 2 % from the computed ones', () => {
  fc.assert(
    fc.property(sizedHistory(answers), (input) => {
      for (const decision of run(input)) {
        const healthy = decision.backends.filter((of) => of.health === 'HEALTHY');
        const total = healthy.reduce((sum, of) => sum + of.relativeWeight, 0);
        const moved =
          healthy.reduce((sum, of) => sum + Math.abs(of.relativeWeight / total - of.share), 0) / 2;
        assert.ok(moved <= 0.02 + 0.001, `${moved}`);
      }
    }),
    SEED,
  );
});
