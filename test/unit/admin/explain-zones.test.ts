import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainGroup } from '../../../src/admin/explain.ts';
import type { DecisionExplanation, ZoneExplanation } from '../../../src/admin/explanation.ts';
import { zoneLines } from '../../../src/admin/words/explain-zones.ts';
import { wrongInExplanation } from '../../../src/commands/explanation-shape.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { backend } from '../../support/decisions.ts';
import { Fleet, type FleetOptions } from '../../support/fleet.ts';

const ZONES = ['a', 'a', 'a', 'b', 'b', undefined];

function explained(newest: GroupDecision): DecisionExplanation {
  const explanation = explainGroup({
    status: {
      newest,
      published: { decision: newest, version: 'v', atMs: newest.atMs, firstAcknowledgedAtMs: undefined },
      streams: { following: 0, current: 0 },
    },
    nowMs: newest.atMs,
    openStreams: 0,
    wanted: () => true,
  });
  assert.equal(wrongInExplanation(JSON.parse(JSON.stringify(explanation))), undefined);
  return explanation.published.decision;
}

/** Works it out from what the explanation says, as its documentation says. */
function byHand(decision: DecisionExplanation, of: ZoneExplanation, bias: number) {
  const sums = [0, 0];
  for (const [i, { health, computedWeight }] of decision.backends.entries()) {
    const side = ZONES[i] === of.zone ? 0 : 1;
    if (health === 'HEALTHY') sums[side] = (sums[side] ?? 0) + computedWeight;
  }
  const [home = 0, away = 0] = sums;
  const asked = of.integralRatio + of.gain * ((of.excess ?? 0.1) - 0.1);
  const measured = 1 - of.availableRatio * (1 - Math.min(1, Math.max(0, asked)));
  const overflow = of.plain ? 1 : Math.max(0.01, measured);
  const factor =
    overflow === 1 || home === 0 || away === 0
      ? 1
      : ((overflow * home) / (home + away - overflow * away)) ** bias;
  return { overflow, factor, stays: home === 0 ? 0 : home / (home + factor * away) };
}

const CASES: readonly (readonly [string, FleetOptions])[] = [
  ['RoundRobin', {}],
  ['LeastRequest', { envoyLbPolicy: 'LeastRequest' }],
  ['Linear', { policy: 'Linear' }],
];
for (const [name, options] of CASES) {
  test(`what zones are told can be worked out from the explanation: ${name}`, () => {
    const servers = ZONES.map((zone, i) => backend(i + 1, zone === undefined ? {} : { zone }));
    const fleet = new Fleet(servers, { ...options, locality: 'Prefer' });
    const loads = [
      [9, 9, 9, 9, 9, 9],
      [30, 20, 25, 5, 6, 9],
      [5, 40, 8, 30, 30, 3],
    ];
    for (let step = 0; step < 60; step++) {
      const decision = explained(
        fleet.step(
          (loads[Math.floor(step / 20)] ?? []).map((running, i) =>
            step > 50 && i === 0
              ? 'refused'
              : {
                  running,
                  kvUtilization: running / 50,
                  finished: 3 * step,
                  queued: i === 1 && step > 45 ? 30 : 0,
                },
          ),
        ),
      );
      for (const of of decision.zones) {
        const { overflow, factor, stays } = byHand(decision, of, name === 'LeastRequest' ? 2 : 1);
        assert.ok(Math.abs(of.overflowRatio - overflow) < 1e-9, `step ${step}`);
        assert.ok(Math.abs(of.awayFactor - factor) < 1e-9, `step ${step}`);
        assert.ok(Math.abs(of.homeShareRatio - stays) < 1e-9, `step ${step}`);
      }
    }
  });
}

test('in words', () => {
  const zone: ZoneExplanation = {
    zone: 'eu-west-1a',
    backends: 2,
    excess: 0.2345,
    availableRatio: 1,
    gain: 0.5,
    integralRatio: 0.4,
    overflowRatio: 0.46725,
    plain: false,
    awayFactor: 0.1234,
    homeShareRatio: 0.876,
  };
  const other = { ...zone, zone: 'eu-west-1b', backends: 1, excess: -0.2345, plain: true };
  const lines = zoneLines({ ...explained(new Fleet(2).step([{}, {}])), zones: [zone, other] });
  assert.deepEqual(lines.slice(1), [
    '  eu-west-1a: 87.6 % of the requests stay, other zones × 0.1234; 2 backends, it is 0.2345 busier than the group.',
    '    Of what plain balancing would send elsewhere, 1 - 1 × (1 - (0.4 + 0.5 × 0.1345)) = 46.7 % goes there, at least 1 %; the factor follows from that and the weights of both sides.',
    '  eu-west-1b: 87.6 % of the requests stay, other zones × 0.1234; 1 backend, it is 0.2345 less busy than the group.',
    '    Balanced without regard to zones: no load is compared, or a share is refused.',
  ]);
  assert.deepEqual(zoneLines({ ...explained(new Fleet(2).step([{}, {}])), zones: [] }), []);
});
