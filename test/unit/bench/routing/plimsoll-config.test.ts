import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from '../../../../src/config/load.ts';
import type { ServerGroup } from '../../../../src/core/model/server-group.ts';
import { armOf } from '../../../bench/routing/arm.ts';
import { ARMS, type ArmName } from '../../../bench/routing/model.ts';
import { plimsollConfig } from '../../../bench/routing/plimsoll-config.ts';

const MEMBERS = [{ id: '127.100.1.1:80', address: '127.100.1.1', port: 80 }];

function groupOf(arm: ArmName, intervalSeconds = 1): ServerGroup {
  const parsed = parseConfiguration(plimsollConfig(armOf(arm), MEMBERS, intervalSeconds), 'plimsoll.yaml');
  assert.ok(parsed.kind === 'valid', JSON.stringify(parsed));
  return parsed.configuration.serverGroups[0]!;
}

test('the configuration of every arm is valid, and load-aware where Plimsoll balances', () => {
  for (const arm of ARMS) {
    assert.equal(groupOf(arm).loadAware !== undefined, armOf(arm).kind === 'plimsoll', arm);
  }
});

test('the arms differ in what they are named after, and only in that', () => {
  const { loadAware, envoyLbPolicy } = groupOf('adaptive');
  assert.equal(envoyLbPolicy, 'LeastRequest');
  assert.equal(groupOf('adaptive-round-robin').envoyLbPolicy, 'RoundRobin');
  assert.deepEqual(groupOf('adaptive-round-robin').loadAware, loadAware);
  assert.equal(groupOf('linear').loadAware?.balance.policy, 'Linear');
  assert.equal(loadAware?.balance.saturation?.admission, 'Proportional');
  assert.equal(groupOf('adaptive-marks').loadAware?.balance.saturation?.admission, 'None');
});

test('an interval may be below a second', () => {
  assert.deepEqual(
    [0.25, 1, 15].map((seconds) => groupOf('adaptive', seconds).loadAware?.collect.intervalSeconds),
    [0.25, 1, 15],
  );
});
