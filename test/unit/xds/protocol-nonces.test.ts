/** What settles a response, and what a change sends: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol */
import assert from 'node:assert/strict';
import { isAggregated, isSotw, rule } from '../../support/xds-rule.ts';

rule('only the nonce of the open response settles it', async ({ talk, publish, acknowledged }) => {
  publish({ a: '1' });
  talk.ask(['a']);
  await talk.take();
  const stale = talk.nonce;
  publish({ a: '2' });
  assert.equal(await talk.next(), 'a@2');
  for (const nonce of ['', stale, `0${talk.nonce}`, `${talk.nonce} `, '999999', 'x'.repeat(100)]) {
    talk.repeat({ responseNonce: nonce });
  }
  publish({ a: '3' });
  publish({ a: '4' });
  await talk.quiet();
  assert.equal(acknowledged.length, 1);
  talk.acknowledge();
  assert.equal(await talk.take(), 'a@4', 'the newest');
  await talk.quiet();
});

rule(
  'the nonce of another type settles nothing',
  async ({ talk, of, beside, publishAll }) => {
    const otherOf = of === 'route' ? 'listener' : 'route';
    const publish = (mine: string, others: string): void => {
      publishAll({ [of]: { a: mine }, [otherOf]: { a: others } });
    };
    publish('1', '1');
    talk.ask(['a']);
    await talk.take();
    const second = beside(talk, otherOf);
    second.ask(['a']);
    await second.take();
    publish('2', '1');
    assert.equal(await talk.next(), 'a@2');
    publish('2', '2');
    assert.equal(await second.next(), 'a@2');
    talk.repeat({ responseNonce: second.nonce });
    publish('3', '2');
    await talk.quiet();
    talk.acknowledge();
    assert.equal(await talk.next(), 'a@3');
  },
  isAggregated,
);

rule('a rejected version is not sent again, the next one is', async ({ talk, publish, sets, rejected }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['a', 'b']);
  await talk.take();
  publish({ a: '2', b: '1' });
  assert.equal(await talk.next(), sets ? 'a@2 b@1' : 'a@2');
  talk.reject('no');
  publish({ a: '2', b: '1', c: '1' });
  await talk.quiet();
  assert.deepEqual(
    rejected.map(({ message }) => message),
    ['no'],
  );
  publish({ a: '3', b: '1' });
  assert.equal(await talk.take(), sets ? 'a@3 b@1' : 'a@3');
});

rule('surplus requests get no answer', async ({ talk, publish, acknowledged }) => {
  publish({ a: '1' });
  talk.ask(['a']);
  await talk.take();
  for (let i = 0; i < 3; i++) {
    talk.acknowledge();
    talk.repeat();
    talk.repeat({ responseNonce: talk.nonce });
  }
  await talk.quiet();
  assert.equal(acknowledged.length, 1);
  publish({ a: '2' });
  assert.equal(await talk.take(), 'a@2');
});

rule('a first request that is repeated is answered once each where it subscribes anew', async (scene) => {
  const { talk, publish, variant } = scene;
  publish({ a: '1' });
  talk.ask(['a']);
  assert.equal(await talk.next(), 'a@1');
  for (let i = 0; i < 2; i++) {
    if (variant === 'delta') talk.send({ resourceNamesSubscribe: ['a'] });
    else talk.send({ resourceNames: ['a'] });
    // in state of the world the same list is no new subscription
    if (variant === 'delta') assert.equal(await talk.next(), 'a@1');
    await talk.quiet();
  }
  talk.acknowledge();
  await talk.quiet();
  publish({ a: '2' });
  assert.equal(await talk.take(), 'a@2');
  await talk.quiet();
});

rule('a request that names the same more than once is one request', async ({ talk, publish, variant }) => {
  publish({ a: '1' });
  const names = ['a', 'a', 'a'];
  talk.send(variant === 'sotw' ? { resourceNames: names } : { resourceNamesSubscribe: names });
  assert.equal(await talk.take(), 'a@1');
  await talk.quiet();
});

rule(
  'a first request that is repeated without waiting for the answer is answered once',
  async ({ talk, publish }) => {
    publish({ a: '1' });
    for (let i = 0; i < 3; i++) talk.send({ resourceNames: ['a'] });
    assert.equal(await talk.take(), 'a@1');
    await talk.quiet();
  },
  isSotw,
);

rule('a change sends the full set, or what changed and nothing else', async ({ talk, publish, sets }) => {
  publish({ a: '1', b: '1', c: '1' });
  talk.ask(['a', 'b', 'c']);
  assert.equal(await talk.take(), 'a@1 b@1 c@1');
  publish({ a: '1', b: '2', c: '1' });
  assert.equal(await talk.take(), sets ? 'a@1 b@2 c@1' : 'b@2');
  publish({ a: '1', b: '2', c: '1' });
  await talk.quiet('the same content once more');
});
