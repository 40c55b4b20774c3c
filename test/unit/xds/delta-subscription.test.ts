import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeltaSubscription } from '../../../src/xds/delta-subscription.ts';
import type { DeltaDiscoveryRequest } from '../../../src/xds/request.ts';
import { NO_REQUEST, REJECTION, SubscriptionDriver, viewOf } from '../../support/subscription-driver.ts';

const NOTHING = { ...NO_REQUEST, subscribe: [], unsubscribe: [], initialVersions: new Map<string, string>() };

/** Of endpoints, of which a first request without names asks for nothing. */
function endpoints(trustsClient = true): SubscriptionDriver<DeltaDiscoveryRequest> {
  return new SubscriptionDriver<DeltaDiscoveryRequest>(new DeltaSubscription(false, trustsClient), NOTHING);
}

/** Of clusters, of which it asks for all. */
function clusters(): SubscriptionDriver<DeltaDiscoveryRequest> {
  return new SubscriptionDriver<DeltaDiscoveryRequest>(new DeltaSubscription(true, true), NOTHING);
}

/** Subscribed to `names`, answered with `view`, acknowledged. */
function settled(subscribe: readonly string[], view: ReturnType<typeof viewOf>) {
  const client = endpoints();
  client.receive({ subscribe });
  const sent = client.next(view);
  assert.ok(sent !== undefined);
  client.receive({ nonce: sent.nonce });
  return client;
}

test('the first request is answered at once, whatever its nonce, and once', () => {
  const client = endpoints();
  const view = viewOf({ a: '1', b: '1' });
  client.receive({ subscribe: ['a'], nonce: 'of another stream' });
  assert.deepEqual(client.next(view), { nonce: '1', resources: ['a@1'], removed: [] });
  assert.equal(client.next(view), undefined);
});

test('an acknowledgement settles what was sent and asks for nothing', () => {
  const client = endpoints();
  const view = viewOf({ a: '1' });
  client.receive({ subscribe: ['a'] });
  client.next(view);
  assert.deepEqual(client.receive({ nonce: '1' }), ['a@1']);
  assert.equal(client.receive({ nonce: '1' }), undefined, 'a repeated one');
  assert.equal(client.next(view), undefined);
});

test('a change is sent once, and only what changed', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  const view = viewOf({ a: '1', b: '2', c: '1' });
  assert.deepEqual(client.next(view)?.resources, ['b@2']);
  client.receive({ nonce: '2' });
  assert.equal(client.next(view), undefined);
});

test('while a response is not acknowledged, changes wait and the newest goes out', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  for (const version of ['3', '4', '5']) assert.equal(client.next(viewOf({ a: version })), undefined);
  const newest = viewOf({ a: '6' });
  client.receive({ nonce: '1' });
  assert.equal(client.next(newest), undefined, 'a stale nonce');
  client.receive({ nonce: '2' });
  assert.deepEqual(client.next(newest)?.resources, ['a@6']);
});

test('subscriptions hold whatever the nonce, and a new name is answered at once and alone', () => {
  const client = settled(['a'], viewOf({ a: '1', b: '1' }));
  client.next(viewOf({ a: '2', b: '1' }));
  client.receive({ subscribe: ['b'], nonce: 'stale' });
  assert.deepEqual(client.next(viewOf({ a: '3', b: '1' }))?.resources, ['b@1']);
  client.receive({ unsubscribe: ['a'], nonce: 'stale' });
  client.receive({ nonce: '3' });
  assert.equal(client.next(viewOf({ a: '4', b: '1' })), undefined);
});

test('a name subscribed again is answered again in the same version', () => {
  const view = viewOf({ a: '1' });
  const client = settled(['a'], view);
  client.receive({ subscribe: ['a'] });
  assert.deepEqual(client.next(view)?.resources, ['a@1']);
  client.receive({ nonce: '2' });
  client.receive({ subscribe: ['a'], unsubscribe: ['a'] });
  assert.deepEqual(client.next(view)?.resources, ['a@1'], 'in one request with its unsubscription');
});

test('a name that does not exist is removed once, and sent when it appears', () => {
  const client = endpoints();
  client.receive({ subscribe: ['a', 'b'] });
  assert.deepEqual(client.next(viewOf({ a: '1' })), { nonce: '1', resources: ['a@1'], removed: ['b'] });
  client.receive({ nonce: '1' });
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['b@1']);
});

test('a resource that goes is removed once, and sent when it returns in the same version', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  assert.deepEqual(client.next(viewOf({})), { nonce: '2', resources: [], removed: ['a'] });
  client.receive({ nonce: '2' });
  assert.equal(client.next(viewOf({})), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
});

test('a held name is neither answered nor refused', () => {
  const client = endpoints();
  client.receive({ subscribe: ['a'] });
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.receive({ nonce: '1' });
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  assert.equal(client.next(viewOf({ a: '1' })), undefined, 'the client still has it');
});

test('a held name does not keep the others waiting', () => {
  const client = endpoints();
  client.receive({ subscribe: ['a', 'b', 'c'] });
  assert.deepEqual(client.next(viewOf({ b: '1' }, ['a'])), {
    nonce: '1',
    resources: ['b@1'],
    removed: ['c'],
  });
});

test('what initial versions spared is acknowledged with the first answer, by a client that takes it', () => {
  const request = {
    subscribe: ['a', 'b', 'c'],
    initialVersions: new Map([
      ['a', '1'],
      ['b', '0'],
      ['c', '1'],
      ['not subscribed', '1'],
    ]),
  };
  const view = viewOf({ a: '1', b: '1', 'not subscribed': '1' });
  const client = endpoints();
  client.receive(request);
  assert.deepEqual(client.next(view)?.resources, ['b@1']);
  assert.equal(client.receive({ nonce: 'stale' }), undefined);
  assert.deepEqual(client.receive({ nonce: '1' }), ['a@1', 'b@1']);
  client.next(viewOf({ a: '1', b: '2' }));
  assert.deepEqual(client.receive({ nonce: '2' }), ['b@2'], 'once');
  const refusing = endpoints();
  refusing.receive(request);
  refusing.next(view);
  assert.deepEqual(refusing.receive({ nonce: '1', error: REJECTION }), ['b@1']);
});

test('initial versions spare what the client has, and the first request is answered all the same', () => {
  const initialVersions = new Map([
    ['a', '1'],
    ['b', '0'],
    ['gone', '1'],
    ['not subscribed', '1'],
  ]);
  const some = endpoints();
  some.receive({ subscribe: ['a', 'b', 'c', 'gone'], initialVersions });
  assert.deepEqual(some.next(viewOf({ a: '1', b: '1', c: '1', 'not subscribed': '2' })), {
    nonce: '1',
    resources: ['b@1', 'c@1'],
    removed: ['gone'],
  });
  const all = endpoints();
  all.receive({ subscribe: ['a'], initialVersions });
  assert.deepEqual(all.next(viewOf({ a: '1' })), { nonce: '1', resources: [], removed: [] });
  all.receive({ nonce: '1' });
  assert.deepEqual(all.next(viewOf({ a: '2' }))?.resources, ['a@2']);
});

test('initial versions of later requests mean nothing', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.receive({ subscribe: ['b'], initialVersions: new Map([['b', '1']]) });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['b@1']);
});

test('a client that may have lost its resources gets them whatever versions it names', () => {
  const client = endpoints(false);
  client.receive({ subscribe: ['a'], initialVersions: new Map([['a', '1']]) });
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
});

test('a first request for endpoints without names asks for nothing', () => {
  const client = endpoints();
  client.receive({});
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
});

for (const [how, subscribe] of [
  ['without names', []],
  ['for *', ['*']],
] as const) {
  test(`a first request for clusters ${how} asks for everything`, () => {
    const client = clusters();
    client.receive({ subscribe });
    assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['a@1', 'b@1']);
    client.receive({ nonce: '1' });
    assert.deepEqual(client.next(viewOf({ b: '1', c: '1' })), {
      nonce: '2',
      resources: ['c@1'],
      removed: ['a'],
    });
    client.receive({ nonce: '2' });
    assert.equal(client.next(viewOf({ b: '1', c: '1' })), undefined);
  });

  test(`a first request for clusters ${how} is answered also when there is nothing, or nothing new`, () => {
    const none = clusters();
    none.receive({ subscribe });
    assert.deepEqual(none.next(viewOf({})), { nonce: '1', resources: [], removed: [] });
    const same = clusters();
    same.receive({ subscribe, initialVersions: new Map([['a', '1']]) });
    assert.deepEqual(same.next(viewOf({ a: '1' })), { nonce: '1', resources: [], removed: [] });
  });
}

test('a reconnected client is told what went meanwhile', () => {
  const client = clusters();
  client.receive({
    initialVersions: new Map([
      ['a', '1'],
      ['b', '1'],
      ['held', '1'],
    ]),
  });
  assert.deepEqual(client.next(viewOf({ a: '1' }, ['held'])), { nonce: '1', resources: [], removed: ['b'] });
});

test('names add to the wildcard; leaving one is answered with what there is of it', () => {
  const client = clusters();
  client.receive({});
  client.next(viewOf({ a: '1' }));
  client.receive({ nonce: '1', subscribe: ['a', 'x'] });
  assert.deepEqual(client.next(viewOf({ a: '1' })), { nonce: '2', resources: ['a@1'], removed: ['x'] });
  client.receive({ nonce: '2', unsubscribe: ['a', 'x'] });
  assert.deepEqual(client.next(viewOf({ a: '1' })), { nonce: '3', resources: ['a@1'], removed: ['x'] });
  client.receive({ nonce: '3' });
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2'], 'the wildcard still holds');
});

test('leaving the wildcard keeps the names', () => {
  const client = clusters();
  client.receive({ subscribe: ['*', 'a'] });
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ nonce: '1', unsubscribe: ['*'] });
  assert.deepEqual(client.next(viewOf({ a: '2', b: '2' }))?.resources, ['a@2']);
});

test('the wildcard subscribed again is answered with everything', () => {
  const client = clusters();
  client.receive({ subscribe: ['*'] });
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ subscribe: ['*'] });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['a@1', 'b@1']);
});

test('an empty name is no name', () => {
  const client = endpoints();
  client.receive({ subscribe: [''] });
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
  client.receive({ subscribe: [''], unsubscribe: [''] });
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
});

test('leaving a name that was never taken changes nothing', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.receive({ unsubscribe: ['b'] });
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
});

test('a rejected version is not sent again, the next one is', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  const bad = viewOf({ a: '2', b: '1' });
  client.next(bad);
  assert.deepEqual(client.receive({ nonce: '2', error: REJECTION }), ['a@2']);
  assert.equal(client.next(bad), undefined);
  assert.deepEqual(client.next(viewOf({ a: '2', b: '2' }))?.resources, ['b@2']);
  client.receive({ nonce: '3' });
  assert.deepEqual(client.next(viewOf({ a: '3', b: '2' }))?.resources, ['a@3']);
  client.receive({ nonce: '4' });
  assert.equal(client.next(viewOf({ a: '2', b: '2' })), undefined, 'back to the rejected one');
});

test('a rejected version is sent to a client that asks for the name anew, and is good once acknowledged', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  client.receive({ nonce: '2', error: REJECTION, subscribe: ['a'] });
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2']);
  client.receive({ nonce: '3' });
  client.next(viewOf({ a: '1' }));
  client.receive({ nonce: '4' });
  assert.deepEqual(client.next(viewOf({ a: '2' }))?.resources, ['a@2']);
});

test('renewed names are answered in the same version, others are not', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.subscription.renew(['b', 'c']);
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1', c: '1' }))?.resources, ['b@1']);
});

test('a first request for a held name is answered when that has content, even if the client has it', () => {
  const client = endpoints();
  client.receive({ subscribe: ['a'], initialVersions: new Map([['a', '1']]) });
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  const view = viewOf({ a: '1' });
  assert.deepEqual(client.next(view), { nonce: '1', resources: [], removed: [] });
  client.receive({ nonce: '1' });
  assert.equal(client.next(view), undefined);
});

test('requests that come before the answer share it', () => {
  const client = endpoints();
  for (let i = 0; i < 3; i++) client.receive({ subscribe: ['a', 'a'] });
  const view = viewOf({ a: '1' });
  assert.deepEqual(client.next(view)?.resources, ['a@1']);
  assert.equal(client.next(view), undefined);
});

for (const [how, ask] of [
  ['renewed', (client: ReturnType<typeof endpoints>) => client.subscription.renew(['a'])],
  ['subscribed again', (client: ReturnType<typeof endpoints>) => client.receive({ subscribe: ['a'] })],
  [
    'covered by a new wildcard',
    (client: ReturnType<typeof endpoints>) => client.receive({ subscribe: ['*'] }),
  ],
] as const) {
  test(`a name ${how} while it is held is sent when it has content, in the same version and once`, () => {
    const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
    const held = viewOf({ b: '1' }, ['a']);
    assert.equal(client.next(held), undefined);
    ask(client);
    const answer = client.next(held);
    assert.ok(!(answer?.removed ?? []).includes('a'), 'it is not told removed');
    client.receive({ nonce: answer?.nonce ?? '' });
    const other = viewOf({ b: '1' }, ['a']);
    assert.equal(client.next(other), undefined);
    const view = viewOf({ a: '1', b: '1' });
    const sent = client.next(view);
    assert.deepEqual(sent?.resources, ['a@1']);
    client.receive({ nonce: sent?.nonce ?? '' });
    assert.equal(client.next(view), undefined);
    assert.equal(client.next(other), undefined);
    assert.equal(client.next(view), undefined, 'held once more, it is not owed again');
  });
}

test('a name renewed while it is held, and gone after that, is told removed once', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.subscription.renew(['a']);
  assert.equal(client.next(viewOf({}, ['a'])), undefined);
  const view = viewOf({});
  assert.deepEqual(client.next(view), { nonce: '2', resources: [], removed: ['a'] });
  client.receive({ nonce: '2' });
  assert.equal(client.next(view), undefined);
});

test('a name renewed while it is held, and left after that, is not sent', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.subscription.renew(['a']);
  client.next(viewOf({ b: '1' }, ['a']));
  client.receive({ unsubscribe: ['a'] });
  assert.equal(client.next(viewOf({ a: '1', b: '1' })), undefined);
});

test('a wildcard that is left before it is answered is not answered', () => {
  const client = settled(['a'], viewOf({ a: '1', b: '1' }));
  client.receive({ subscribe: ['*'] });
  client.receive({ unsubscribe: ['*'] });
  assert.equal(client.next(viewOf({ a: '1', b: '1' })), undefined);
});

test('names that are left together with the wildcard need no answer, also while a response is open', () => {
  const client = clusters();
  client.receive({ subscribe: ['*', 'x'] });
  client.next(viewOf({ a: '1' }, ['x']));
  client.receive({ unsubscribe: ['x', '*'] });
  assert.equal(client.next(viewOf({ a: '1', x: '1' })), undefined);
});

test('a name that is gone when everything is asked for anew is told removed if it may still arrive', () => {
  const client = clusters();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ unsubscribe: ['*'] });
  client.receive({ subscribe: ['*'] });
  assert.deepEqual(client.next(viewOf({ b: '1' })), { nonce: '2', resources: ['b@1'], removed: ['a'] });
});

test('a rejection of a name that has been left says nothing about taking it again', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  client.next(viewOf({ a: '2', b: '1' }));
  client.receive({ unsubscribe: ['a'] });
  client.receive({ nonce: '2', error: REJECTION });
  client.receive({ subscribe: ['a'] });
  assert.deepEqual(client.next(viewOf({ b: '1' }))?.removed, ['a']);
  client.receive({ nonce: '3' });
  assert.deepEqual(client.next(viewOf({ a: '2', b: '1' }))?.resources, ['a@2']);
});

test('what was rejected, then acknowledged as asked anew, is sent if it was withheld meanwhile', () => {
  const client = settled(['a'], viewOf({ a: '1' }));
  client.next(viewOf({ a: '2' }));
  client.receive({ subscribe: ['a'] });
  client.next(viewOf({ a: '2' }));
  client.receive({ nonce: '2', error: REJECTION });
  client.subscription.giveUp();
  assert.deepEqual(client.next(viewOf({ a: '3' }))?.resources, ['a@3']);
  client.subscription.giveUp();
  const view = viewOf({ a: '2' });
  assert.equal(client.next(view), undefined);
  client.receive({ nonce: '3' });
  client.receive({ nonce: '4' });
  assert.deepEqual(client.next(view)?.resources, ['a@2']);
});

for (const subscribe of [['a', 'b'], ['*']]) {
  test(`what was rejected and then removed is sent when it is back, subscribed to ${subscribe.join(' ')}`, () => {
    const client = settled(subscribe, viewOf({ a: '1' }));
    const both = viewOf({ a: '1', b: '1' });
    const { nonce = '' } = client.next(both) ?? {};
    client.receive({ nonce, error: REJECTION });
    assert.equal(client.next(both), undefined);
    const without = client.next(viewOf({ a: '1' }));
    assert.deepEqual(without?.removed, ['b']);
    client.receive({ nonce: without?.nonce ?? '' });
    assert.deepEqual(client.next(both)?.resources, ['b@1']);
  });

  test(`also if it is rejected only after it was removed, subscribed to ${subscribe.join(' ')}`, () => {
    const client = settled(subscribe, viewOf({ a: '1' }));
    const both = viewOf({ a: '1', b: '1' });
    const { nonce = '' } = client.next(both) ?? {};
    client.subscription.giveUp();
    const without = client.next(viewOf({ a: '1' }));
    assert.deepEqual(without?.removed, ['b']);
    client.receive({ nonce, error: REJECTION });
    client.receive({ nonce: without?.nonce ?? '' });
    assert.deepEqual(client.next(both)?.resources, ['b@1']);
  });
}

test('a client of everything that is not trusted gets all of it, and is told what went', () => {
  const client = endpoints(false);
  const initialVersions = new Map([
    ['a', '1'],
    ['gone', '1'],
  ]);
  client.receive({ subscribe: ['*'], initialVersions });
  assert.deepEqual(client.next(viewOf({ a: '1' })), { nonce: '1', resources: ['a@1'], removed: ['gone'] });
});

test('what the latest request left: names that were asked for and are no more', () => {
  const client = settled(['a', 'b'], viewOf({ a: '1', b: '1' }));
  const left = (fields: Partial<DeltaDiscoveryRequest>): readonly string[] => {
    client.receive(fields);
    return client.subscription.left ?? [];
  };
  assert.deepEqual(left({ unsubscribe: ['a'], subscribe: ['a'] }), []);
  assert.deepEqual(left({ unsubscribe: ['a', 'never asked for'] }), ['a']);
  assert.deepEqual(left({ unsubscribe: ['a'] }), []);
  assert.deepEqual(left({ subscribe: ['*'] }), []);
  client.next(viewOf({ a: '1', b: '1', c: '1' }));
  assert.deepEqual(left({ unsubscribe: ['b'] }), [], 'one of all');
  assert.deepEqual(left({ subscribe: ['c'], unsubscribe: ['*'] }).toSorted(), ['a', 'b']);
  assert.deepEqual(left({ nonce: '2' }), []);
});
