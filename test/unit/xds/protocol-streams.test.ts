/** Streams, nodes and reconnects: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol */
import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { type Case, clustersFirst, isAggregated, isDelta, rule } from '../../support/xds-rule.ts';

/** Routes and clusters that a client brings are left to it for a while: handover.test.ts. */
const isLeft = ({ of }: Case): boolean => of === 'route' || of === 'cluster';

rule('nothing is answered before the configuration is loaded', async ({ talk, publish, another }) => {
  talk.ask(['*']);
  // that the server has seen the end of another stream says that it has seen what came before
  const { stream } = another();
  stream.finish();
  assert.equal((await stream.ended()).code, status.OK);
  assert.deepEqual(talk.stream.left, []);
  publish({ a: '1' });
  assert.equal(await talk.take(), 'a@1');
});

rule('a request without a node is served', async ({ talk, publish, acknowledged }) => {
  publish({ a: '1' });
  talk.ask(['a']);
  await talk.take();
  await talk.quiet();
  assert.deepEqual(
    acknowledged.map(({ node }) => node),
    [''],
  );
});

rule('the node of the first request is the node of all', async ({ talk, publish, acknowledged }) => {
  publish({ a: '1' });
  talk.ask(['a'], { node: { id: 'sidecar', cluster: 'fleet' } });
  await talk.take();
  publish({ a: '2' });
  await talk.take();
  await talk.quiet();
  assert.deepEqual(
    acknowledged.map(({ node }) => node),
    ['sidecar', 'sidecar'],
  );
});

rule('two streams of one node are two clients', async ({ talk, publish, another }) => {
  publish({ a: '1', b: '1' });
  const second = another();
  talk.ask(['a'], { node: { id: 'sidecar' } });
  second.ask(['b'], { node: { id: 'sidecar' } });
  assert.equal(await talk.next(), 'a@1');
  assert.equal(await second.take(), 'b@1');
  publish({ a: '2', b: '2' });
  assert.equal(await second.take(), 'b@2');
  await talk.quiet('it has not acknowledged, whatever the other did');
  talk.acknowledge();
  assert.equal(await talk.take(), 'a@2');
});

rule(
  'a client that is gone in the middle of a push gets it on its next stream',
  async (scene) => {
    const { talk, publish, another, variant } = scene;
    publish({ a: '1' });
    talk.ask(['a']);
    await talk.take();
    publish({ a: '2' });
    assert.equal(await talk.next(), 'a@2');
    talk.stream.cancel();
    for (const [has, told] of [
      ['1', 'a@2'],
      ['2', variant === 'delta' ? '' : 'a@2'],
    ] as const) {
      const next = another();
      await clustersFirst(scene, next);
      next.ask(
        ['a'],
        variant === 'delta'
          ? { initialResourceVersions: { a: has } }
          : { versionInfo: has, responseNonce: talk.nonce },
      );
      assert.equal(await next.take(), told);
      publish({ a: '3' });
      assert.equal(await next.take(), 'a@3');
      publish({ a: '2' });
      await next.take();
    }
  },
  (each) => !isDelta(each) || each.of !== 'route',
);

rule(
  'initial versions spare what the client has, and only that',
  async (scene) => {
    const { talk, publish } = scene;
    publish({ a: '1', b: '2', c: '1' });
    await clustersFirst(scene, talk);
    const initialResourceVersions = { a: '1', b: '1', gone: '1', 'not asked for': '1' };
    talk.ask(['a', 'b', 'c', 'gone'], { initialResourceVersions });
    assert.equal(await talk.take(), 'b@2 c@1 -gone');
    publish({ a: '2', b: '2', c: '1' });
    assert.equal(await talk.take(), 'a@2');
  },
  (each) => isDelta(each) && !isLeft(each),
);

rule(
  'initial versions are answered also when the client has everything',
  async (scene) => {
    const { talk, publish } = scene;
    publish({ a: '1' });
    await clustersFirst(scene, talk);
    talk.ask(['a'], { initialResourceVersions: { a: '1' } });
    assert.equal(await talk.take(), '');
    await talk.quiet();
  },
  isDelta,
);

rule(
  'another type ends the stream',
  async ({ talk, of }) => {
    talk.stream.send({ typeUrl: of === 'cluster' ? TYPE_URLS.route : TYPE_URLS.cluster });
    assert.equal((await talk.stream.ended()).code, status.INVALID_ARGUMENT);
  },
  (each) => !isAggregated(each),
);

rule(
  'the type may be left out where there is only one',
  async ({ talk, publish, variant }) => {
    publish({ a: '1' });
    talk.stream.send(variant === 'sotw' ? { resourceNames: ['a'] } : { resourceNamesSubscribe: ['a'] });
    assert.equal(await talk.take(), 'a@1');
  },
  (each) => !isAggregated(each),
);

rule(
  'a type without acknowledgement holds up no other',
  async ({ talk, of, beside, publishAll }) => {
    const otherOf = of === 'route' ? 'listener' : 'route';
    publishAll({ [of]: { a: '1' }, [otherOf]: { a: '1' } });
    talk.ask(['a']);
    await talk.next();
    const other = beside(talk, otherOf);
    other.ask(['a']);
    assert.equal(await other.take(), 'a@1');
    publishAll({ [of]: { a: '2' }, [otherOf]: { a: '2' } });
    assert.equal(await other.take(), 'a@2');
    await talk.quiet();
    talk.acknowledge();
    assert.equal(await talk.take(), 'a@2');
  },
  isAggregated,
);
