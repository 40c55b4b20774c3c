import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../../../src/core/model.ts';
import { Admission, IDLE_MS } from '../../../src/xds/admission.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

let nowMs: number;
let peers: number;

beforeEach(() => {
  nowMs = 0;
  peers = 0;
});

function make(limits: Partial<XdsLimits>): Admission {
  return new Admission(xdsSettings(limits).limits, () => nowMs);
}

/** @returns the limit that refused a stream on a connection of its own, or `in`. */
function open(admission: Admission, client: string): string {
  return admission.openStream(`${client}:${++peers}`, client)?.limit ?? 'in';
}

test('streams of all clients are counted, and one that closes makes room', () => {
  const admission = make({ streams: 2 });
  assert.deepEqual(
    [open(admission, 'a'), open(admission, 'b'), open(admission, 'c')],
    ['in', 'in', 'Streams'],
  );
  admission.closeStream('a:1', 'a');
  assert.equal(open(admission, 'c'), 'in');
});

test('a refusal says which limit, with its value, as RESOURCE_EXHAUSTED', () => {
  const admission = make({ streams: 1 });
  open(admission, 'a');
  assert.deepEqual(admission.openStream('a:2', 'a'), {
    limit: 'Streams',
    code: status.RESOURCE_EXHAUSTED,
    details: 'Xds.Limits.Streams: 1 streams are open',
  });
});

test('streams of one client are counted, and others are let in', () => {
  const admission = make({ streamsPerIdentity: 1 });
  assert.deepEqual(
    [open(admission, 'a'), open(admission, 'a'), open(admission, 'b')],
    ['in', 'StreamsPerIdentity', 'in'],
  );
});

test('new streams are spread over time', () => {
  const admission = make({ newStreamsPerSecond: 10 });
  const storm = Array.from({ length: 30 }, (_, i) => open(admission, `client ${i}`));
  assert.equal(storm.filter((each) => each === 'in').length, 10);
  assert.equal(storm.at(-1), 'NewStreamsPerSecond');
  nowMs += 500;
  const later = Array.from({ length: 30 }, (_, i) => open(admission, `client ${i}`));
  assert.equal(later.filter((each) => each === 'in').length, 5);
});

test('a client that opens and closes without end takes nothing from the others', () => {
  const admission = make({ newStreamsPerSecond: 10, streamsPerIdentity: 4 });
  for (let i = 0; i < 100; i++)
    if (open(admission, 'mad') === 'in') admission.closeStream(`mad:${peers}`, 'mad');
  const others = Array.from({ length: 6 }, (_, i) => open(admission, `client ${i}`));
  assert.deepEqual(others, Array(6).fill('in'));
});

test('connections of one client are counted, anew once it has said who it is', () => {
  const admission = make({ streamsPerIdentity: 2 });
  assert.equal(admission.openConnection('10.0.0.1:1', '10.0.0.1'), undefined);
  assert.equal(admission.openConnection('10.0.0.1:2', '10.0.0.1'), undefined);
  assert.equal(admission.openConnection('10.0.0.1:3', '10.0.0.1')?.limit, 'StreamsPerIdentity');
  assert.equal(admission.identifyConnection('10.0.0.1:1', 'spiffe://one'), undefined);
  assert.equal(admission.openConnection('10.0.0.1:3', '10.0.0.1'), undefined, 'there is room again');
  assert.equal(admission.identifyConnection('10.0.0.1:2', 'spiffe://one'), undefined);
  assert.equal(admission.identifyConnection('10.0.0.1:3', 'spiffe://one')?.limit, 'StreamsPerIdentity');
  assert.equal(
    admission.identifyConnection('10.0.0.1:4', 'spiffe://two'),
    undefined,
    'it has closed meanwhile',
  );
});

test('nothing is remembered of clients that are gone', () => {
  const admission = make({});
  for (let i = 0; i < 100; i++) {
    admission.openConnection(`client ${i}:1`, `client ${i}`);
    admission.openStream(`client ${i}:1`, `client ${i}`);
  }
  admission.sweep();
  assert.equal(admission.clients, 100);
  for (let i = 0; i < 100; i++) {
    admission.closeStream(`client ${i}:1`, `client ${i}`);
    admission.closeConnection(`client ${i}:1`);
    admission.closeConnection(`client ${i}:1`);
  }
  admission.sweep();
  assert.equal(admission.clients, 100, 'their rates are still of use');
  nowMs += 1000;
  admission.sweep();
  assert.equal(admission.clients, 0);
});

test('a connection without a stream is told as idle after a minute', () => {
  const admission = make({});
  admission.openConnection('a:1', 'a');
  admission.openConnection('a:2', 'a');
  admission.openStream('a:2', 'a');
  nowMs += IDLE_MS;
  assert.deepEqual(admission.sweep(), []);
  nowMs += 1;
  assert.deepEqual(admission.sweep(), ['a:1']);
  admission.closeConnection('a:1');
  admission.closeStream('a:2', 'a');
  assert.deepEqual(admission.sweep(), [], 'its minute begins when its last stream ends');
  nowMs += IDLE_MS + 1;
  assert.deepEqual(admission.sweep(), ['a:2']);
});
