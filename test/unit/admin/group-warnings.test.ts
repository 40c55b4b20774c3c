import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupWarnings } from '../../../src/admin/group-warnings.ts';
import type { CollectFailureKind } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend, backendDecision, groupDecision } from '../../support/decisions.ts';
import { type Answer, Fleet } from '../../support/fleet.ts';

/** What a fleet of eight is warned of after so many evaluations. */
function warnings(answers: readonly Answer[], options: { steps?: number; nowMs?: number } = {}) {
  const fleet = new Fleet(8);
  fleet.steps(3, (step) => Array.from({ length: 8 }, () => ({ running: 5, finished: step })));
  const decision = fleet.steps(options.steps ?? 40, (step) =>
    answers.map((answer) => (typeof answer === 'object' ? { ...answer, finished: 10 + step } : answer)),
  );
  return groupWarnings(decision, options.nowMs ?? decision.atMs);
}

/** So many backends that are at work. */
const working = (count: number): readonly Answer[] => Array.from({ length: count }, () => ({ running: 5 }));

test('how many do not answer, for how long, why, and what to do', () => {
  const [warning, ...others] = warnings([...working(6), 'refused', 'refused']).filter(({ text }) =>
    text.includes('have had'),
  );
  assert.equal(
    warning?.text,
    '2 of 8 backends (10.0.3.7:8000, 10.0.3.8:8000) have had no metrics for 40 s: connection refused',
  );
  assert.match(warning?.remedy ?? '', /Nothing listens there/);
  assert.deepEqual(others, []);
});

test('each cause by itself; a single one by its name', () => {
  const texts = warnings([...working(5), 'refused', 'timeout', 'refused']).map(({ text }) => text);
  assert.ok(texts.some((text) => text.startsWith('2 of 8 backends (10.0.3.6:8000, 10.0.3.8:8000) have had')));
  assert.ok(texts.includes('10.0.3.7:8000 has had no metrics for 40 s: timeout'));
});

test('a single miss is no warning; time goes on between evaluations', () => {
  assert.deepEqual(warnings([...working(7), 'timeout'], { steps: 1 }), []);
  const fleet = new Fleet(1);
  fleet.step([{ running: 1 }]);
  const decision = fleet.steps(2, ['reset']);
  assert.match(groupWarnings(decision, decision.atMs + 60_000).at(-1)?.text ?? '', /for 62 s: reset$/);
});

test('one that has never answered', () => {
  const decision = new Fleet(2).steps(5, [{ running: 1 }, 'metric_absent']);
  assert.equal(
    groupWarnings(decision, decision.atMs).at(-1)?.text,
    '10.0.3.2:8000 has never given metrics: metric_absent',
  );
});

test('every cause has words of its own, and a remedy', () => {
  const kinds: readonly CollectFailureKind[] = [
    'refused',
    'unreachable',
    'reset',
    'timeout',
    'status',
    'not_metrics',
    'metric_absent',
    'not_a_number',
    'too_large',
    'protocol',
    'internal',
  ];
  const found = kinds.map((kind) => {
    const failure = { kind, message: kind };
    const backends = [1, 2].map((last) =>
      backendDecision(backend(last), { missed: 5, use: 'worst', failure }),
    );
    return groupWarnings(groupDecision('llama', backends), 1000)[0];
  });
  assert.equal(new Set(found.map((warning) => warning?.text)).size, kinds.length);
  assert.ok(found.every((warning) => (warning?.remedy ?? '').length > 20));
});

/** Each warning of the rule, made to happen. */
const RULE: readonly (readonly [beginning: string, decision: () => GroupDecision])[] = [
  [
    'Locality: Prefer tells at most',
    () => {
      const many = Array.from({ length: 17 }, (_, i) => backend(i + 1, { zone: `z${i}` }));
      return new Fleet(many, { locality: 'Prefer' }).step(many.map(() => ({ running: 1 })));
    },
  ],
  [
    'no backend gives metrics: what is published',
    () => warned(2, [{ running: 1 }, { running: 1 }], ['timeout', 'timeout'], 3),
  ],
  [
    'no backend gives metrics: configured',
    () => warned(2, [{ running: 1 }, { running: 1 }], ['timeout', 'timeout'], 60),
  ],
  [
    'the gauges of all backends',
    () => warned(2, [{ running: 9 }, { running: 9 }], [{ running: 9 }, { running: 9 }], 60),
  ],
  ['gauges stand still', () => warned(3, [{ running: 9 }, {}, {}], [{ running: 9 }, 'moving', 'moving'], 60)],
  [
    'scorer ',
    () => warned(2, [{ kvUtilization: undefined }, {}], [{ kvUtilization: undefined }, 'moving'], 3),
  ],
  ['more than a quarter of the backends', () => warned(3, [{}, {}, {}], ['timeout', 'timeout', 'moving'], 5)],
  [
    'every backend is saturated',
    () => warned(2, [{ queued: 50 }, { queued: 50 }], [{ queued: 50 }, { queued: 50 }], 3),
  ],
];

/** @param then the same at each evaluation; `moving`: an engine at work */
function warned(
  count: number,
  first: readonly Answer[],
  then: readonly (Answer | 'moving')[],
  steps: number,
): GroupDecision {
  const fleet = new Fleet(count);
  fleet.step(first);
  return fleet.steps(steps, (step) =>
    then.map((answer) => (answer === 'moving' ? { running: 3 + (step % 3), finished: step } : answer)),
  );
}

for (const [beginning, make] of RULE) {
  test(`the rule's warning has a remedy: ${beginning}`, () => {
    const decision = make();
    const warning = groupWarnings(decision, decision.atMs).find(({ text }) => text.startsWith(beginning));
    assert.ok(warning !== undefined, decision.warnings.join('; '));
    assert.doesNotMatch(warning.remedy, /explain GROUP/);
  });
}

test('the status itself is the reason, however many give it', () => {
  const decision = groupDecision(
    'llama',
    [404, 503, 404].map((status, last) =>
      backendDecision(backend(last + 1), {
        missed: 5,
        use: 'none',
        failure: { kind: 'status', message: `status ${status}` },
      }),
    ),
  );
  assert.match(groupWarnings(decision, 1000)[0]?.text ?? '', /: status 404, status 503$/);
});

test('a gain that hardly answers to the load', () => {
  const decision = groupDecision('llama', [], { gain: 0.04, staySeconds: 0.5, delaySeconds: 2.5 });
  assert.equal(
    groupWarnings(decision, 1000)[0]?.text,
    'weights hardly answer to the load (gain 0.040): a sample is used 2.5 s after its collection begins, and requests stay 0.5 s',
  );
});
