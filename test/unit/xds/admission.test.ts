import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../../../src/core/model/configuration.ts';
import { Admission } from '../../../src/xds/admission.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

let nowMs: number;

beforeEach(() => {
  nowMs = 0;
});

function make(limits: Partial<XdsLimits>): Admission {
  return new Admission(xdsSettings(limits).limits, () => nowMs);
}

/** @returns the limit that refused a stream, or `in`. */
function open(admission: Admission, client: string): string {
  const admitted = admission.openStream(client);
  return admitted.kind === 'admitted' ? 'in' : admitted.refusal.limit;
}

/** @returns how many of so many streams were let in. */
function openMany(admission: Admission, client: string, count: number): number {
  return Array.from({ length: count }, () => open(admission, client)).filter((each) => each === 'in').length;
}

test('streams of all clients are counted, and one that closes makes room', () => {
  const admission = make({ streams: 2 });
  assert.deepEqual(
    [open(admission, 'a'), open(admission, 'b'), open(admission, 'c')],
    ['in', 'in', 'Streams'],
  );
  admission.closeStream('a');
  assert.equal(open(admission, 'c'), 'in');
});

test('a refusal says which limit, with its value, as RESOURCE_EXHAUSTED', () => {
  const admission = make({ streams: 2, streamsPerIdentity: 1 });
  open(admission, 'a');
  assert.deepEqual(admission.openStream('a'), {
    kind: 'refused',
    refusal: {
      limit: 'StreamsPerIdentity',
      code: status.RESOURCE_EXHAUSTED,
      details: 'Xds.Limits.StreamsPerIdentity: 1 streams of this client are open',
    },
  });
  open(admission, 'b');
  assert.deepEqual(admission.openStream('c'), {
    kind: 'refused',
    refusal: {
      limit: 'Streams',
      code: status.RESOURCE_EXHAUSTED,
      details: 'Xds.Limits.Streams: 2 streams are open',
    },
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
  for (let i = 0; i < 100; i++) if (open(admission, 'mad') === 'in') admission.closeStream('mad');
  const others = Array.from({ length: 6 }, (_, i) => open(admission, `client ${i}`));
  assert.deepEqual(others, Array(6).fill('in'));
});

test('what clients open without end is a tenth for each, and all together leave room for others', () => {
  const admission = make({ newStreamsPerSecond: 100, streamsPerIdentity: 50 });
  const mad = ['mad', 'madder'];
  for (const client of mad) openMany(admission, client, 50);
  for (const client of mad) for (let i = 0; i < 50; i++) admission.closeStream(client);
  let letIn = 0;
  for (let second = 0; second < 5; second++) {
    nowMs += 1000;
    for (const client of mad) {
      const count = openMany(admission, client, 1000);
      letIn += count;
      for (let i = 0; i < count; i++) admission.closeStream(client);
    }
    assert.equal(openMany(admission, `client ${second}`, 50), 50);
  }
  assert.equal(letIn, 5 * 2 * 10);
});

test('a storm of one client as large as it may be is let in at once, and what others delay loses nothing', () => {
  const admission = make({ newStreamsPerSecond: 100, streamsPerIdentity: 100 });
  assert.equal(openMany(admission, 'one', 100), 100);
  assert.equal(openMany(admission, 'other', 100), 0, 'there is no room in this second');
  nowMs += 1000;
  assert.equal(openMany(admission, 'other', 100), 100);
});

test('connections of one client are counted', () => {
  const admission = make({ streamsPerIdentity: 2 });
  assert.equal(admission.openConnection('a'), undefined);
  assert.equal(admission.openConnection('a'), undefined);
  assert.equal(admission.openConnection('a')?.limit, 'StreamsPerIdentity');
  assert.equal(admission.openConnection('b'), undefined);
  admission.closeConnection('a');
  assert.equal(admission.openConnection('a'), undefined);
});

test('connections of one address are spread over time, beyond those that come at once', () => {
  const admission = make({ newStreamsPerSecond: 100 });
  const connect = (address: string) => admission.connect(address)?.limit ?? 'in';
  const storm = Array.from({ length: 1500 }, () => connect('10.0.0.1'));
  assert.equal(storm.filter((each) => each === 'in').length, 1000);
  assert.equal(storm.at(-1), 'NewStreamsPerSecond');
  assert.equal(connect('10.0.0.2'), 'in');
  nowMs += 1000;
  const later = Array.from({ length: 100 }, () => connect('10.0.0.1'));
  assert.equal(later.filter((each) => each === 'in').length, 10);
});

test('all streams of a client share what it may ask in a second', () => {
  const admission = make({ streamsPerIdentity: 10, requestsPerSecond: 10 });
  const meters = Array.from({ length: 10 }, () => {
    const admitted = admission.openStream('a');
    assert.equal(admitted.kind, 'admitted');
    return admitted.kind === 'admitted' ? admitted.meter : undefined;
  });
  const ask = (bytes: number) =>
    meters.map((meter) => (meter?.take(bytes, nowMs) === undefined ? 'in' : meter.take(bytes, nowMs)?.limit));
  for (let round = 0; round < 20; round++) assert.deepEqual(ask(1), Array(10).fill('in'));
  assert.deepEqual(ask(1), Array(10).fill('RequestsPerSecond'));
  nowMs += 1000;
  assert.deepEqual(ask(500_000), [...Array<string>(8).fill('in'), ...Array<string>(2).fill('MessageBytes')]);
});

test('nothing is remembered of clients that are gone', () => {
  const admission = make({});
  for (let i = 0; i < 100; i++) {
    admission.connect(`client ${i}`);
    admission.openConnection(`client ${i}`);
    admission.openStream(`client ${i}`);
  }
  admission.sweep();
  assert.equal(admission.clients, 100);
  for (let i = 0; i < 100; i++) {
    admission.closeStream(`client ${i}`);
    admission.closeConnection(`client ${i}`);
  }
  admission.sweep();
  assert.equal(admission.clients, 100, 'their rates are still of use');
  nowMs += 1000;
  admission.sweep();
  assert.equal(admission.clients, 0);
});
