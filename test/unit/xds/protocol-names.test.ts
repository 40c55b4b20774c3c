/** What a client asks for, and what is not there: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol */
import assert from 'node:assert/strict';
import { isSotw, rule } from '../../support/xds-rule.ts';

rule('a first request is answered at once, whatever its version and nonce', async ({ talk, publish }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['a'], { responseNonce: 'of another stream' });
  assert.equal(await talk.take(), 'a@1');
  await talk.quiet();
});

rule('a first request without names', async ({ talk, publish, sets, emptyMeansAll }) => {
  publish({ a: '1', b: '1' });
  talk.ask([]);
  if (emptyMeansAll) assert.equal(await talk.take(), 'a@1 b@1');
  publish({ a: '1', b: '2', c: '1' });
  if (emptyMeansAll) assert.equal(await talk.take(), sets ? 'a@1 b@2 c@1' : 'b@2 c@1');
  await talk.quiet('of endpoints and routes it asks for nothing');
});

rule('the wildcard asks for everything, of any type', async ({ talk, publish, sets }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['*']);
  assert.equal(await talk.take(), 'a@1 b@1');
  publish({ a: '1', b: '2', c: '1' });
  assert.equal(await talk.take(), sets ? 'a@1 b@2 c@1' : 'b@2 c@1');
  await talk.quiet();
});

rule('leaving the wildcard for a name leaves the rest', async ({ talk, publish, variant }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['*']);
  await talk.take();
  talk.ask(['a'], { responseNonce: talk.nonce });
  // where names replace the wildcard, one that it covered is newly asked for
  assert.equal(await talk.take(), 'a@1');
  publish({ a: '1', b: '2', c: '1' });
  await talk.quiet(variant);
  publish({ a: '2', b: '2', c: '1' });
  assert.equal(await talk.take(), 'a@2');
});

rule('names ask for themselves', async ({ talk, publish }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['a']);
  assert.equal(await talk.take(), 'a@1');
  publish({ a: '1', b: '2' });
  await talk.quiet();
  publish({ a: '2', b: '2' });
  assert.equal(await talk.take(), 'a@2');
  await talk.quiet();
});

rule('an added name is answered at once, though the answer before is open', async (scene) => {
  const { talk, publish, sets } = scene;
  publish({ a: '1', b: '1' });
  talk.ask(['a']);
  assert.equal(await talk.next(), 'a@1');
  talk.ask(['a', 'b'], { responseNonce: 'stale' });
  assert.equal(await talk.take(), sets ? 'a@1 b@1' : 'b@1');
  await talk.quiet();
});

rule('leaving some names needs no answer, and they are told of no more', async ({ talk, publish }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['a', 'b']);
  assert.equal(await talk.take(), 'a@1 b@1');
  talk.ask(['a']);
  await talk.quiet();
  publish({ a: '1', b: '2' });
  await talk.quiet();
  publish({ a: '2', b: '2' });
  assert.equal(await talk.take(), 'a@2');
  publish({ a: '2' });
  await talk.quiet('what was left has gone');
});

rule('leaving all names, and coming back', async ({ talk, publish }) => {
  publish({ a: '1' });
  talk.ask(['a']);
  await talk.take();
  talk.ask([]);
  await talk.quiet();
  publish({ a: '2', b: '1' });
  await talk.quiet();
  talk.ask(['a']);
  assert.equal(await talk.take(), 'a@2');
});

for (const [when, first] of [
  ['first', []],
  ['after names', ['a']],
] as const) {
  rule(
    `one empty name asks for nothing, ${when}`,
    async ({ talk, publish }) => {
      publish({ a: '1' });
      if (first.length > 0) {
        talk.ask(first);
        await talk.take();
      }
      talk.ask(['']);
      await talk.quiet();
      publish({ a: '2' });
      await talk.quiet();
      talk.ask(['a']);
      assert.equal(await talk.take(), 'a@2');
    },
    isSotw,
  );
}

rule('what is asked for again is answered again in the same version', async ({ talk, publish }) => {
  publish({ a: '1', b: '1' });
  talk.ask(['a']);
  assert.equal(await talk.take(), 'a@1');
  talk.askAgain();
  assert.equal(await talk.take(), 'a@1');
  await talk.quiet();
});

rule('an unknown name is told when it appears', async ({ talk, publish, variant }) => {
  publish({ b: '1' });
  talk.ask(['a']);
  if (variant === 'delta') assert.equal(await talk.take(), '-a');
  publish({ b: '2' });
  await talk.quiet('once');
  publish({ a: '1', b: '2' });
  assert.equal(await talk.take(), 'a@1');
  await talk.quiet();
});

rule('a name beside an unknown one is answered', async ({ talk, publish, variant }) => {
  publish({ b: '1' });
  talk.ask(['a', 'b']);
  assert.equal(await talk.take(), variant === 'delta' ? 'b@1 -a' : 'b@1');
  await talk.quiet();
});

rule('what goes is told of, once, and what comes back is sent', async (scene) => {
  const { talk, publish, sets, variant } = scene;
  publish({ a: '1', b: '1' });
  talk.ask(['a', 'b']);
  assert.equal(await talk.take(), 'a@1 b@1');
  publish({ b: '1' });
  if (variant === 'delta') assert.equal(await talk.take(), '-a');
  if (sets) assert.equal(await talk.take(), 'b@1');
  await talk.quiet('partial responses cannot tell it');
  publish({ a: '2', b: '1' });
  assert.equal(await talk.take(), sets ? 'a@2 b@1' : 'a@2');
  await talk.quiet();
});

rule(
  'what comes back as it was is sent to those who were told that it went',
  async ({ talk, publish, sets }) => {
    publish({ a: '1', b: '1' });
    talk.ask(['a', 'b']);
    await talk.take();
    publish({ b: '1' });
    await talk.take();
    publish({ a: '1', b: '1' });
    assert.equal(await talk.take(), sets ? 'a@1 b@1' : 'a@1');
  },
  ({ sets, variant }) => sets || variant === 'delta',
);
