import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AckDelay } from '../../../src/publish/ack-delay.ts';

test('without acknowledgements it is 0.1 s', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 0, 20);
  assert.equal(delay.secondsAt(20), 0.1);
});

test('it is measured from the start of the collection, once for each publish', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 1000, 1020);
  assert.equal(delay.acknowledged('another', 0, 1100), undefined);
  assert.equal(delay.acknowledged('v1', 0, 2000), 1);
  assert.equal(delay.acknowledged('v1', 0, 9000), undefined);
  assert.ok(delay.secondsAt(9000) > 0.1 && delay.secondsAt(9000) < 1);
});

test('a sidecar that came after the publish tells nothing', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 1000, 1020);
  assert.equal(delay.acknowledged('v1', 301_000, 301_005), undefined);
  assert.equal(delay.secondsAt(301_005), 0.1);
  // and does not keep the others from telling
  assert.equal(delay.acknowledged('v1', 500, 1100), 0.1);
});

test('an acknowledgement slower than the next publish counts', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 1000, 1020);
  delay.published(new Set(['v2']), 2000, 2020);
  assert.equal(delay.acknowledged('v1', 0, 2500), 1.5);
  assert.equal(delay.acknowledged('v2', 0, 2600), 0.6);
});

test('whoever took a version is past the earlier ones', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 1000, 1020);
  delay.published(new Set(['v2']), 2000, 2020);
  assert.equal(delay.acknowledged('v2', 0, 2100), 0.1);
  assert.equal(delay.acknowledged('v1', 0, 2200), undefined);
});

test('an answer after half a minute is that of a sidecar that was away', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 1000, 1020);
  assert.equal(delay.acknowledged('v1', 0, 40_000), undefined);
  assert.equal(delay.secondsAt(40_000), 0.1);
});

test('what a sidecar that was away for a while made of it is forgotten though nothing is published', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1']), 1000, 1020);
  assert.equal(delay.acknowledged('v1', 0, 21_000), 20);
  assert.ok(Math.abs(delay.secondsAt(21_000) - 4.08) < 1e-9);
  assert.ok(delay.secondsAt(22_000) > 4, 'an average over publishes as they usually come');
  assert.ok(delay.secondsAt(141_000) < 1.6);
  assert.ok(delay.secondsAt(621_000) < 0.13);
  delay.published(new Set(['v2']), 621_000, 621_020);
  delay.acknowledged('v2', 0, 621_200);
  assert.ok(delay.secondsAt(621_200) < 0.16);
});

test('of many publishes without an answer only the latest are remembered', () => {
  const delay = new AckDelay();
  for (let i = 0; i < 100; i++) delay.published(new Set([`v${i}`]), i, i);
  assert.equal(delay.acknowledged('v0', 0, 200), undefined);
  assert.equal(delay.acknowledged('v90', 0, 190), 0.1);
});

test('where zones are told different things, one acknowledgement of any of them tells', () => {
  const delay = new AckDelay();
  delay.published(new Set(['v1', 'v1-a', 'v1-b']), 1000, 1020);
  assert.equal(delay.acknowledged('v1-b', 0, 1200), 0.2);
  assert.equal(delay.acknowledged('v1', 0, 1300), undefined);
});
