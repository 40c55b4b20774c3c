import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiscoveryRequest } from '../../../src/xds/request.ts';
import { SotwSubscription } from '../../../src/xds/sotw-subscription.ts';
import { NO_REQUEST, REJECTION, SubscriptionDriver, viewOf } from '../../support/subscription-driver.ts';

function driver(): SubscriptionDriver<DiscoveryRequest> {
  return new SubscriptionDriver<DiscoveryRequest>(new SotwSubscription(), { ...NO_REQUEST, names: [] });
}

/** Subscribed to `names`, answered with `view`, acknowledged. */
function settled(names: readonly string[], view: ReturnType<typeof viewOf>) {
  const client = driver();
  client.receive({ names });
  const sent = client.next(view);
  assert.ok(sent !== undefined);
  client.receive({ names, nonce: sent.nonce });
  return client;
}

test('the first request is answered at once, whatever its nonce, and once', () => {
  const client = driver();
  const view = viewOf({ a: '1', b: '1' });
  client.receive({ names: ['a'], nonce: 'of another stream' });
  assert.deepEqual(client.next(view)?.resources, ['a@1']);
  assert.equal(client.next(view), undefined);
});

test('an acknowledgement settles what was sent and asks for nothing', () => {
  const client = driver();
  const view = viewOf({ a: '1' });
  client.receive({ names: ['a'] });
  const sent = client.next(view);
  assert.deepEqual(client.receive({ names: ['a'], nonce: sent?.nonce ?? '' }), ['a@1']);
  assert.equal(client.next(view), undefined);
  assert.equal(client.receive({ names: ['a'], nonce: sent?.nonce ?? '' }), undefined, 'a repeated one');
  assert.equal(client.next(view), undefined);
});

test('only what changed is sent', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  assert.deepEqual(client.next(viewOf({ a: '1', b: '2' }))?.resources, ['b@2']);
});

test('while a response is not acknowledged, changes wait and the newest goes out', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  const sent = client.next(viewOf({ a: '2' }));
  for (const version of ['3', '4', '5']) assert.equal(client.next(viewOf({ a: version })), undefined);
  const newest = viewOf({ a: '6' });
  assert.equal(client.next(newest), undefined);
  client.receive({ names: ['a'], nonce: sent?.nonce ?? '' });
  assert.deepEqual(client.next(newest)?.resources, ['a@6']);
});

test('a stale or invented nonce is no acknowledgement', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  for (const nonce of ['1', '77', '', 'x', '02']) {
    assert.equal(client.receive({ names: ['a'], nonce }), undefined);
    assert.equal(client.next(viewOf({ a: '3' })), undefined);
  }
});

test('a new name is answered at once, also while a response is open, and alone', () => {
  const client = settled(['a'], viewOf({ a: '1', b: '1' }));
  const view = viewOf({ a: '2', b: '1' });
  const push = client.next(view);
  client.receive({ names: ['a', 'b'], nonce: 'stale' });
  const answer = client.next(view);
  assert.deepEqual(answer?.resources, ['b@1']);
  assert.deepEqual(client.receive({ names: ['a', 'b'], nonce: push?.nonce ?? '' }), ['a@2']);
  assert.equal(client.next(viewOf({ a: '3', b: '1' })), undefined, 'the answer is still open');
  assert.deepEqual(client.receive({ names: ['a', 'b'], nonce: answer?.nonce ?? '' }), ['b@1']);
  assert.deepEqual(client.next(viewOf({ a: '3', b: '1' }))?.resources, ['a@3']);
});

test('acknowledging a later response settles the earlier ones with it', () => {
  const client = settled(['a'], viewOf({ a: '1', b: '1' }));
  const view = viewOf({ a: '2', b: '1' });
  client.next(view);
  client.receive({ names: ['a', 'b'] });
  const answer = client.next(view);
  client.receive({ names: ['a', 'b'], nonce: answer?.nonce ?? '' });
  assert.deepEqual(client.next(viewOf({ a: '3', b: '1' }))?.resources, ['a@3']);
});

test('a name that left the list and came back is answered again in the same version', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.receive({ names: ['a'], nonce: '1' });
  assert.equal(client.next(viewOf({ a: '1', b: '2' })), undefined, 'b is not asked for');
  client.receive({ names: ['a', 'b'], nonce: '1' });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['b@1']);
});

test('an empty list asks for nothing: first, after names, and as one empty name', () => {
  const view = viewOf({ a: '1' });
  const first = driver();
  first.receive({ names: [] });
  assert.equal(first.next(view), undefined);
  for (const names of [[], ['']]) {
    const client = settled(['a'], view);
    client.receive({ names, nonce: '1' });
    assert.equal(client.next(viewOf({ a: '2' })), undefined);
  }
});

test('a name that does not exist is answered when it appears', () => {
  const client = driver();
  client.receive({ names: ['a'] });
  assert.equal(client.next(viewOf({})), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
});

test('a held name is answered when it has content, and not when it is held again', () => {
  const client = driver();
  client.receive({ names: ['a'] });
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.receive({ names: ['a'], nonce: '1' });
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  assert.equal(client.next(viewOf({ a: '1' })), undefined, 'the client still has it');
});

test('a rejected version is not sent again, the next one is', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  const bad = viewOf({ a: '2', b: '1' });
  const sent = client.next(bad);
  assert.deepEqual(client.receive({ names: ['a', 'b'], nonce: sent?.nonce ?? '', error: REJECTION }), [
    'a@2',
  ]);
  assert.equal(client.next(bad), undefined);
  assert.deepEqual(client.next(viewOf({ a: '2', b: '2' }))?.resources, ['b@2']);
  client.receive({ names: ['a', 'b'], nonce: '3' });
  assert.deepEqual(client.next(viewOf({ a: '3', b: '2' }))?.resources, ['a@3']);
  client.receive({ names: ['a', 'b'], nonce: '4' });
  assert.equal(client.next(viewOf({ a: '2', b: '2' })), undefined, 'back to the rejected one');
});

test('a rejected version is sent to a client that asks for the name anew, and is good once acknowledged', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  client.receive({ names: ['a'], nonce: '2', error: REJECTION });
  client.subscription.renew(['a']);
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2']);
  client.receive({ names: ['a'], nonce: '3' });
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.receive({ names: ['a'], nonce: '4' });
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2']);
});

test('renewed names are answered in the same version, others are not', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.subscription.renew(['b', 'c']);
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1', c: '1' }))?.resources, ['b@1']);
});

test('the wildcard asks for everything, until names replace it', () => {
  const client = driver();
  client.receive({ names: ['*'] });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['a@1', 'b@1']);
  client.receive({ names: ['*'], nonce: '1' });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1', c: '1' }))?.resources, ['c@1']);
  client.receive({ names: ['b'], nonce: '2' });
  assert.deepEqual(client.next(viewOf({ a: '2', b: '1' }))?.resources, ['b@1']);
});

test('a client that asks without end and never acknowledges loses the oldest nonces only', () => {
  const client = driver();
  const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
  const view = viewOf(Object.fromEntries(names.map((name) => [name, '1'])));
  const nonces = names.map((_, i) => {
    client.receive({ names: names.slice(0, i + 1) });
    return client.next(view)?.nonce ?? '';
  });
  assert.equal(client.receive({ names, nonce: nonces[0] ?? '' }), undefined);
  assert.deepEqual(client.receive({ names, nonce: nonces[39] ?? '' }), ['n39@1']);
});

test('what is left behind before it was answered is not answered', () => {
  const view = viewOf({ a: '1', b: '1' });
  const wildcard = driver();
  wildcard.receive({ names: ['*'] });
  wildcard.receive({ names: ['b'] });
  assert.deepEqual(wildcard.next(view)?.resources, ['b@1']);
  const client = settled(['a'], viewOf({ a: '0' }));
  client.next(view);
  client.receive({ names: ['a', 'b'] });
  client.receive({ names: ['a'] });
  assert.equal(client.next(view), undefined);
});

test('a name that came back counts as changed: the client may have dropped it', () => {
  const view = viewOf({ a: '1', b: '1' });
  const client = settled(['a', 'b'], view);
  client.receive({ names: ['a'], nonce: '1' });
  client.receive({ names: ['a', 'b'], nonce: '1' });
  assert.deepEqual(client.subscription.next(view)?.changed, ['b']);
});

for (const [state, without] of [
  ['held', viewOf({ b: '1' }, ['a'])],
  ['gone', viewOf({ b: '1' })],
] as const) {
  test(`a name renewed while it is ${state} is sent when it has content, in the same version and once`, () => {
    const names = ['a', 'b'];
    const client = settled(names, viewOf({ a: '1', b: '1' }));
    client.subscription.renew(['a']);
    assert.equal(client.next(without), undefined);
    const view = viewOf({ a: '1', b: '1' });
    const sent = client.next(view);
    assert.deepEqual(sent?.resources, ['a@1']);
    client.receive({ names, nonce: sent?.nonce ?? '' });
    assert.equal(client.next(view), undefined);
    assert.equal(client.next(without), undefined);
    assert.equal(client.next(view), undefined, 'once more, it is not owed again');
  });
}

for (const held of [['a'], []]) {
  test(`what is ${held.length > 0 ? 'held' : 'gone'} when everything is asked for is sent in the same version`, () => {
    const client = settled(['a'], viewOf({ a: '1' }));
    client.receive({ names: ['*'], nonce: '1' });
    assert.equal(client.next(viewOf({}, held)), undefined);
    assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  });
}

test('what was rejected, then acknowledged as asked anew, is sent if it was withheld meanwhile', () => {
  const names = ['a'];
  const client = settled(names, viewOf({ a: '1' }));
  const view = viewOf({ a: '2' });
  client.next(view);
  client.subscription.renew(names);
  client.next(view);
  client.receive({ names, nonce: '2', error: REJECTION });
  client.subscription.giveUp();
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.subscription.giveUp();
  assert.equal(client.next(view), undefined);
  client.receive({ names, nonce: '3' });
  client.receive({ names, nonce: '4' });
  assert.deepEqual(client.next(view)?.resources, ['a@2']);
});

test('whatever was rejected is sent to a client that asks for everything, though it was gone by then', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  client.subscription.renew(['a']);
  assert.equal(client.next(viewOf({})), undefined);
  client.receive({ names: ['a'], nonce: '2', error: REJECTION });
  client.receive({ names: ['*'] });
  assert.equal(client.next(viewOf({})), undefined);
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2']);
});

test('a name renewed while it is held, and left after that, is not sent', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.subscription.renew(['a']);
  client.next(viewOf({ b: '1' }, ['a']));
  client.receive({ names: ['b'] });
  assert.equal(client.next(viewOf({ a: '1', b: '1' })), undefined);
});

test('a version rejected before the name was renewed is sent, also when it comes later', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  client.receive({ names: ['a'], nonce: '2', error: REJECTION });
  client.subscription.renew(['a']);
  assert.deepEqual(client.next(viewOf({ a: '3' }))?.resources, ['a@3']);
  client.receive({ names: ['a'], nonce: '3' });
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2']);
});

test('a rejection of a name that has been left says nothing about taking it again', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.next(viewOf({ a: '2', b: '1' }));
  client.receive({ names: ['b'] });
  client.receive({ names: ['b'], nonce: '2', error: REJECTION });
  client.receive({ names: ['a', 'b'] });
  assert.equal(client.next(viewOf({ b: '1' })), undefined);
  assert.deepEqual(client.next(viewOf({ a: '2', b: '1' }))?.resources, ['a@2']);
});

test('what the latest list left: names that were sent and are not in it', () => {
  const client = driver();
  const left = (names: readonly string[]): readonly string[] => {
    client.receive({ names });
    return client.subscription.left ?? [];
  };
  assert.deepEqual(left(['a', 'b', 'never sent']), []);
  client.next(viewOf({ a: '1', b: '1', c: '1' }));
  assert.deepEqual(left(['b']), ['a']);
  assert.deepEqual(left(['b']), []);
  assert.deepEqual(left(['*']), []);
  client.next(viewOf({ a: '1', b: '1', c: '1' }));
  assert.deepEqual(left(['c']), ['b', 'a']);
});
