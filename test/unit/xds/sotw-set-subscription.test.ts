import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DiscoveryRequest } from '../../../src/xds/request.ts';
import { SotwSetSubscription } from '../../../src/xds/sotw-set-subscription.ts';
import { NO_REQUEST, REJECTION, SubscriptionDriver, viewOf } from '../../support/subscription-driver.ts';

function driver(): SubscriptionDriver<DiscoveryRequest> {
  return new SubscriptionDriver<DiscoveryRequest>(new SotwSetSubscription(), { ...NO_REQUEST, names: [] });
}

test('a first request without names asks for everything and gets the complete set at every change', () => {
  const client = driver();
  client.receive({});
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1' }))?.resources, ['a@1', 'b@1']);
  client.receive({ nonce: '1' });
  assert.equal(client.next(viewOf({ a: '1', b: '1' })), undefined, 'the same set in another view');
  assert.deepEqual(client.next(viewOf({ a: '1', b: '2' }))?.resources, ['a@1', 'b@2']);
});

test('everything is answered also when there is nothing', () => {
  const client = driver();
  client.receive({});
  const view = viewOf({});
  assert.deepEqual(client.next(view)?.resources, []);
  assert.equal(client.next(view), undefined);
});

test('a set that lost a name is sent without it, the last name too', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ nonce: '1' });
  assert.deepEqual(client.next(viewOf({ b: '1' }))?.resources, ['b@1']);
  client.receive({ nonce: '2' });
  assert.deepEqual(client.next(viewOf({}))?.resources, []);
});

test('the explicit wildcard is the same; after it an empty list asks for nothing', () => {
  const client = driver();
  client.receive({ names: ['*'] });
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.receive({ names: [], nonce: '1' });
  assert.equal(client.next(viewOf({ a: '2' })), undefined);
});

test('names replace the implied wildcard, and then an empty list asks for nothing', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ names: ['a'], nonce: '1' });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '2' }))?.resources, ['a@1']);
  client.receive({ names: [], nonce: '2' });
  assert.equal(client.next(viewOf({ a: '2', b: '2' })), undefined);
});

test('one empty name asks for nothing', () => {
  const client = driver();
  client.receive({ names: [''] });
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
});

test('a named client gets what exists of its names, all of it, and the rest when it appears', () => {
  const client = driver();
  client.receive({ names: ['a', 'b'] });
  assert.equal(client.next(viewOf({ c: '1' })), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1', c: '1' }))?.resources, ['a@1']);
  client.receive({ names: ['a', 'b'], nonce: '1' });
  assert.deepEqual(client.next(viewOf({ a: '1', b: '1', c: '1' }))?.resources, ['a@1', 'b@1']);
});

test('leaving a name needs no answer, taking it again does', () => {
  const client = driver();
  const view = viewOf({ a: '1', b: '1' });
  client.receive({ names: ['a', 'b'] });
  client.next(view);
  client.receive({ names: ['a'], nonce: '1' });
  assert.equal(client.next(view), undefined);
  assert.equal(client.next(viewOf({ a: '1' })), undefined, 'b went, and was left before');
  client.receive({ names: ['a', 'b'], nonce: '1' });
  assert.deepEqual(client.next(view)?.resources, ['a@1', 'b@1']);
});

test('changes wait for the acknowledgement, and the newest set goes out', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1' }));
  for (const version of ['2', '3']) assert.equal(client.next(viewOf({ a: version })), undefined);
  const newest = viewOf({ a: '4' });
  client.receive({ nonce: 'stale' });
  assert.equal(client.next(newest), undefined);
  assert.deepEqual(client.receive({ nonce: '1' }), ['a@1']);
  assert.deepEqual(client.next(newest)?.resources, ['a@4']);
});

test('a set that went back while its change waited is not sent', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1' }));
  assert.equal(client.next(viewOf({ a: '2' })), undefined);
  client.receive({ nonce: '1' });
  assert.equal(client.next(viewOf({ a: '1' })), undefined);
});

test('a rejected set is not sent again, one that differs in anything is', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  assert.deepEqual(client.receive({ nonce: '1', error: REJECTION }), ['a@1', 'b@1']);
  assert.equal(client.next(viewOf({ a: '1', b: '1' })), undefined);
  assert.deepEqual(client.next(viewOf({ a: '2', b: '1' }))?.resources, ['a@2', 'b@1']);
  client.receive({ nonce: '2' });
  assert.equal(client.next(viewOf({ a: '1', b: '1' })), undefined, 'back to the rejected one');
  assert.deepEqual(client.next(viewOf({ a: '1', b: '2' }))?.resources, ['a@1', 'b@2']);
});

test('a rejected set is sent again once the client has taken one that lacks something of it', () => {
  const client = driver();
  const both = viewOf({ a: '1', b: '1' });
  client.receive({});
  client.next(both);
  client.receive({ nonce: '1', error: REJECTION });
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.subscription.giveUp();
  assert.equal(client.next(both), undefined, 'not taken yet');
  client.receive({ nonce: '2' });
  assert.deepEqual(client.next(both)?.resources, ['a@1', 'b@1']);
});

test('a rejected set is sent to a client that asks anew, and is good once acknowledged', () => {
  const client = driver();
  const bad = viewOf({ a: '1' });
  client.receive({ names: ['a'] });
  client.next(bad);
  client.receive({ names: [], nonce: '1', error: REJECTION });
  client.receive({ names: ['a'], nonce: '1' });
  assert.deepEqual(client.next(bad)?.resources, ['a@1']);
  client.receive({ names: ['a'], nonce: '2' });
  client.next(viewOf({ a: '2' }));
  client.receive({ names: ['a'], nonce: '3' });
  assert.deepEqual(client.next(bad)?.resources, ['a@1']);
});

test('only what changed counts as changed, although all is sent', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ nonce: '1' });
  assert.deepEqual(client.subscription.next(viewOf({ a: '1', b: '2' }))?.changed, ['b']);
});

test('what is left behind before it was answered is not answered', () => {
  const view = viewOf({ a: '1', b: '1' });
  for (const first of [[], ['*'], ['a']]) {
    const client = driver();
    client.receive({ names: first });
    client.receive({ names: ['x'] });
    assert.equal(client.next(view), undefined);
  }
});

test('a view that is done is not looked at again', () => {
  const client = driver();
  client.receive({});
  const view = viewOf({ a: '1' });
  client.next(view);
  client.receive({ nonce: '1' });
  const { resources } = view;
  let looks = 0;
  const spied = Object.defineProperty(view, 'resources', {
    get: () => {
      looks++;
      return resources;
    },
  });
  assert.equal(client.next(spied), undefined);
  assert.equal(looks, 0);
});

test('no set goes out that would delete what is held: it waits until that has content or is gone', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ nonce: '1' });
  assert.equal(client.next(viewOf({ b: '2' }, ['a'])), undefined);
  client.receive({ names: ['*'] });
  assert.equal(client.next(viewOf({ b: '2', c: '1' }, ['a'])), undefined);
  assert.deepEqual(client.next(viewOf({ a: '1', b: '2' }))?.resources, ['a@1', 'b@2']);
  client.receive({ names: ['*'], nonce: '2' });
  assert.equal(client.next(viewOf({ b: '2' }, ['a'])), undefined);
  assert.deepEqual(client.next(viewOf({ b: '2' }))?.resources, ['b@2']);
});

test('a held name that the client does not have keeps nobody waiting', () => {
  const client = driver();
  client.receive({});
  assert.deepEqual(client.next(viewOf({ b: '1' }, ['a']))?.resources, ['b@1']);
});

test('a name renewed while it is held is sent when it has content, though nothing changed', () => {
  const client = driver();
  client.receive({});
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ nonce: '1' });
  client.subscription.renew(['a']);
  assert.equal(client.next(viewOf({ b: '1' }, ['a'])), undefined);
  const view = viewOf({ a: '1', b: '1' });
  assert.deepEqual(client.next(view)?.resources, ['a@1', 'b@1']);
  client.receive({ nonce: '2' });
  assert.equal(client.next(view), undefined);
});

test('of a rejected set the part that is still asked for is another set', () => {
  const client = driver();
  const view = viewOf({ a: '2', b: '1' });
  client.receive({ names: ['a', 'b'] });
  client.next(view);
  client.receive({ names: ['a', 'b'], nonce: '1', error: REJECTION });
  client.receive({ names: ['a'] });
  assert.deepEqual(client.next(view)?.resources, ['a@2']);
});

test('a name that was left, went and is taken again is not told of: the client has dropped it', () => {
  const client = driver();
  client.receive({ names: ['a', 'b'] });
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ names: ['b'], nonce: '1' });
  client.receive({ names: ['a', 'b'], nonce: '1' });
  assert.equal(client.next(viewOf({ b: '1' })), undefined);
});

test('unless it is still on its way', () => {
  const client = driver();
  client.receive({ names: ['a', 'b'] });
  client.next(viewOf({ a: '1', b: '1' }));
  client.receive({ names: ['b'] });
  client.receive({ names: ['a', 'b'] });
  const view = viewOf({ b: '1' });
  assert.equal(client.next(view), undefined);
  client.receive({ names: ['a', 'b'], nonce: '1' });
  assert.deepEqual(client.next(view)?.resources, ['b@1']);
});

test('the part that is still asked for is sent also when the set is rejected late', () => {
  const client = driver();
  const view = viewOf({ a: '2', b: '1' });
  client.receive({ names: ['a', 'b'] });
  client.next(view);
  client.receive({ names: ['a'] });
  client.subscription.giveUp();
  assert.equal(client.next(view), undefined);
  client.receive({ names: ['a'], nonce: '1', error: REJECTION });
  assert.deepEqual(client.next(view)?.resources, ['a@2']);
});

test('a set that was rejected, then acknowledged as asked anew, is sent if it was withheld meanwhile', () => {
  const client = driver();
  const view = viewOf({ a: '2' });
  client.receive({});
  client.next(view);
  client.receive({ nonce: '1', error: REJECTION });
  client.subscription.renew(['a']);
  client.next(view);
  client.subscription.giveUp();
  assert.deepEqual(client.next(viewOf({ a: '1' }))?.resources, ['a@1']);
  client.subscription.giveUp();
  assert.equal(client.next(view), undefined);
  client.receive({ nonce: '2' });
  client.receive({ nonce: '3' });
  assert.deepEqual(client.next(view)?.resources, ['a@2']);
});
