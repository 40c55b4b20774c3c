import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metrics } from '../../../src/admin/metrics.ts';
import { Sidecars } from '../../../src/admin/sidecars.ts';
import { StreamEvents } from '../../../src/app/stream-events.ts';
import type { Balancer } from '../../../src/publish/balancer.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';

const { cluster: CDS, endpoint: EDS } = TYPE_URLS;

test('a group whose endpoints are asked for no more is no sidecar group of anybody, and nobody waits for it', () => {
  const left: string[] = [];
  let nowMs = 0;
  const sidecars = new Sidecars(() => nowMs);
  const events = new StreamEvents({
    metrics: { acknowledged: () => undefined } as unknown as Metrics,
    sidecars,
    balancer: {
      acknowledged: () => undefined,
      unsubscribed: (name: string) => left.push(name),
    } as unknown as Balancer,
  });
  const stream = {};
  const client = { node: 'n', cluster: '', zone: '', identity: 'i', peer: '10.9.0.1:1', kind: 'ads' };
  sidecars.published('llama', 'v1');
  events.identified(stream, client);
  const resources = new Map([['llama', 'v1']]);
  events.acknowledged({ ...client, stream, typeUrl: EDS, resources, subscribedAtMs: 0, atMs: 0 });
  sidecars.published('llama', 'v2');
  nowMs = 10_000;
  events.unsubscribed(stream, CDS, ['llama']);
  assert.deepEqual([left, sidecars.counts.behind], [[], 1]);
  events.unsubscribed(stream, EDS, ['llama']);
  assert.deepEqual([left, sidecars.counts.behind], [['llama'], 0]);
});
