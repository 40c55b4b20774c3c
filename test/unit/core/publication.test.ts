import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { Proposal } from '../../../src/core/dither.ts';
import type { EndpointHealth } from '../../../src/core/model/assignment.ts';
import type { Backend } from '../../../src/core/model/backend.ts';
import { proposalOf, publicationOf, publishReason } from '../../../src/core/publication.ts';
import { rosterOf } from '../../../src/core/roster.ts';
import { backend } from '../../support/decisions.ts';
import { backends, Fleet } from '../../support/fleet.ts';
import { random } from '../../support/random.ts';

function proposal(
  weights: readonly number[],
  health: readonly EndpointHealth[] = [],
  servers: readonly Backend[] = backends(weights.length),
  dropShare = 0,
): Proposal {
  const roster = rosterOf(servers, undefined);
  return proposalOf(roster, Float64Array.from(weights), (index) => health[index] ?? 'HEALTHY', dropShare);
}

const published = (of: Proposal) => publicationOf({ name: 'llama' }, of);

test('a proposal holds those with a weight, of mean 1', () => {
  const { backends: chosen, health, weights } = proposal([1, 0, 3], ['UNHEALTHY', 'HEALTHY', 'HEALTHY']);
  assert.deepEqual(
    chosen.map(({ address }) => address),
    ['10.0.3.1', '10.0.3.3'],
  );
  assert.deepEqual(health, ['UNHEALTHY', 'HEALTHY']);
  assert.deepEqual([...weights], [0.5, 1.5]);
});

test('endpoints stand by address, then port', () => {
  const servers = [backend(2), backend(1, { port: 9000 }), backend(1)];
  const { assignment } = published(proposal([1, 1, 1], ['UNHEALTHY'], servers));
  assert.deepEqual(assignment, {
    serverGroup: 'llama',
    endpoints: [
      { address: '10.0.3.1', port: 8000, weight: 100_000, health: 'UNHEALTHY' },
      { address: '10.0.3.1', port: 9000, weight: 100_000, health: 'HEALTHY' },
      { address: '10.0.3.2', port: 8000, weight: 100_000, health: 'HEALTHY' },
    ],
    dropShare: 0,
  });
});

test('why to publish', () => {
  const before = published(proposal([1, 1, 1]));
  const other = [...backends(2), backend(9)];
  const lighter = [...backends(2), backend(3, { weight: 99 })];
  const cases: readonly [Proposal, ReturnType<typeof publishReason>][] = [
    [proposal([1, 1, 1]), undefined],
    [proposal([2, 2, 2]), undefined],
    [proposal([1, 1, 0]), 'membership'],
    [proposal([1, 1, 1, 1]), 'membership'],
    [proposal([1, 1, 1], [], other), 'membership'],
    [proposal([1, 1, 1], ['UNHEALTHY']), 'health'],
    [proposal([1, 1, 1], [], lighter), 'configuration'],
    [proposal([1.05, 1, 0.95]), undefined],
    [proposal([1.07, 1, 0.93]), 'shares'],
    [proposal([1, 1, 1], [], backends(3), 0.005), undefined],
    [proposal([1, 1, 1], [], backends(3), 0.006), 'admission'],
  ];
  for (const [next, reason] of cases) assert.equal(publishReason(next, before), reason);
  assert.equal(publishReason(proposal([1, 1, 1]), undefined), 'first');
});

test('in a large group one backend alone is worth it, though the shares together hardly move', () => {
  const of = (first: number, others = 63, health: readonly EndpointHealth[] = []) =>
    proposal([first, ...Array.from({ length: others }, () => 1)], health);
  const reason = (first: number, before: number, others?: number) =>
    publishReason(of(first, others), published(of(before, others)));
  assert.equal(reason(0.02, 1), 'shares', 'it hangs');
  assert.equal(reason(0.4, 0.1), 'shares', 'it has joined');
  assert.equal(reason(1, 0.1, 999), 'shares');
  assert.equal(reason(0.8, 1), undefined);
  assert.equal(reason(0.3, 0.1), undefined);
  assert.equal(reason(5, 4.5), undefined, 'of a large share the same part');
  const out = ['UNHEALTHY'] as const;
  assert.equal(publishReason(of(0.1, 63, out), published(of(1, 63, out))), undefined, 'nothing goes there');
});

test('up to 12 backends one alone is worth no more pushes than all together', () => {
  const next = random(7);
  const weights = (count: number) => Array.from({ length: count }, () => 0.05 + 2 * next() ** 3);
  const halfOf = (one: Proposal, other: Proposal): number => {
    const sum = (of: Proposal) => of.weights.reduce((total, weight) => total + weight, 0);
    const parts = one.weights.map((weight, i) =>
      Math.abs(weight / sum(one) - (other.weights[i] ?? 0) / sum(other)),
    );
    return parts.reduce((total, part) => total + part, 0) / 2;
  };
  for (let round = 0; round < 3000; round++) {
    const count = 2 + (round % 11);
    const before = weights(count);
    const after = before.map((weight) => weight * (0.97 + 0.06 * next()));
    after[0] = (after[0] ?? 1) * (0.3 + 1.4 * next());
    const [one, other] = [proposal(after), proposal(before)];
    assert.equal(publishReason(one, published(other)), halfOf(one, other) > 0.02 ? 'shares' : undefined);
  }
});

test('in a fleet of 64 one that hangs or queues loses its share, and one that joins gets it', () => {
  const steady = (step: number) => ({
    running: 8,
    kvUtilization: 0.3 + 1e-6 * (step % 7),
    finished: 4 * step,
  });
  const hung = { running: 8, kvUtilization: 0.3, finished: 240 };
  const shareOf = (fleet: Fleet, index: number, answer?: (step: number) => object): number => {
    const size = fleet.servers.length;
    const decision = fleet.steps(60, (step) =>
      fleet.servers.map((_, place) => (place === index && answer ? answer(100 + step) : steady(100 + step))),
    );
    return size * (decision.backends[index]?.share ?? 0);
  };
  const begun = (): Fleet => {
    const fleet = new Fleet(64);
    fleet.steps(100, (step) => backends(64).map(() => steady(step)));
    return fleet;
  };
  assert.ok(shareOf(begun(), 0, () => hung) < 0.03);
  assert.ok(shareOf(begun(), 0, (step) => ({ ...steady(step), queued: 9 })) < 0.3);
  const joined = begun();
  joined.reload(backends(65));
  assert.ok(shareOf(joined, 64) > 0.75);
});

test('a refused share goes out when it has moved far enough, and always when it ends', () => {
  const shedding = (share: number) => proposal([1, 1], [], backends(2), share);
  const before = published(shedding(0.2));
  assert.equal(publishReason(shedding(0.205), before), undefined);
  assert.equal(publishReason(shedding(0.206), before), 'admission');
  assert.equal(publishReason(shedding(0.194), before), 'admission');
  assert.equal(publishReason(shedding(0), published(shedding(0.004))), 'admission');
  assert.equal(published(shedding(0.2004)).assignment.dropShare, 0.2, 'in thousandths');
});

test('another share never goes out with the same weights, which Envoy would not see', () => {
  const shedding = (thousandths: number) => proposal([1, 1], [], backends(2), thousandths / 1000);
  const weightsOf = ({ assignment }: ReturnType<typeof published>) =>
    assignment.endpoints.map((of) => of.weight).join();
  const byWeights = new Map<string, number>();
  let collisions = 0;
  for (let thousandths = 1; thousandths <= 950; thousandths++) {
    const weights = weightsOf(published(shedding(thousandths)));
    const twin = byWeights.get(weights);
    byWeights.set(weights, thousandths);
    if (twin === undefined) continue;
    collisions++;
    const before = published(shedding(twin));
    const next = publicationOf({ name: 'llama' }, shedding(thousandths), before);
    assert.notEqual(weightsOf(next), weightsOf(before), `${twin} and ${thousandths} thousandths`);
    assert.equal(
      weightsOf(publicationOf({ name: 'llama' }, shedding(twin), before)),
      weights,
      'the same share, the same bytes',
    );
  }
  assert.ok(collisions > 0, 'there are such shares');
});

test('only the shares among the healthy count', () => {
  const health: readonly EndpointHealth[] = ['UNHEALTHY', 'HEALTHY', 'HEALTHY'];
  const before = published(proposal([1, 1, 1], health));
  assert.equal(publishReason(proposal([0.1, 1, 1], health), before), undefined);
  assert.equal(publishReason(proposal([1, 1.05, 0.95], health), before), 'shares');
  const none: readonly EndpointHealth[] = ['UNHEALTHY', 'UNHEALTHY'];
  assert.equal(publishReason(proposal([1, 2], none), published(proposal([2, 1], none))), undefined);
});

test('small moves add up against what was published last, not against each other', () => {
  const fleet = new Fleet(2, { scorers: [{ name: 'RunningRequests', weight: 1 }] });
  fleet.step([
    { running: 100, finished: 0 },
    { running: 100, finished: 0 },
  ]);
  const reasons = Array.from({ length: 6 }, (_, step) => {
    const decision = fleet.step([
      { running: 100 + step / 2, finished: step },
      { running: 100 - step / 2, finished: step },
    ]);
    return decision.publish;
  });
  assert.equal(reasons[0], undefined);
  assert.ok(reasons.includes('shares'));
});

test('what is not worth publishing leaves the published weights in the decision', () => {
  const fleet = new Fleet(2);
  const first = fleet.step([{ running: 100 }, { running: 100 }]);
  const second = fleet.step([{ running: 100.5 }, { running: 99.5 }]);
  assert.equal(second.publish, undefined);
  assert.equal(second.assignment, first.assignment);
  assert.deepEqual(
    second.backends.map((of) => of.weight),
    [100_000, 100_000],
  );
  assert.ok(
    (second.backends[0]?.relativeWeight ?? 1) < 1,
    'the weight that was computed is shown all the same',
  );
});
