import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends, Voyage } from '../support/voyage.ts';

const ASLEEP =
  'vllm:engine_sleep_state{engine="0",sleep_state="awake"} 0.0\n' +
  'vllm:engine_sleep_state{engine="0",sleep_state="weights_offloaded"} 1.0\n' +
  'vllm:num_requests_running{engine="0"} 0.0\n';

function fallAsleep(backend: GaugeBackend): void {
  backend.metrics = (_, response) => {
    response.setHeader('content-type', 'text/plain').end(ASLEEP);
  };
}

describe('engines that sleep', () => {
  const backends = [1, 2].map((last) => new GaugeBackend(`127.0.18.${last}`));
  const [first, second] = backends as [GaugeBackend, GaugeBackend];
  let voyage: Voyage;
  const cleanups = new Cleanups();

  before(async () => {
    await startBackends(backends, cleanups);
    for (const backend of backends) backend.moving = true;
    voyage = await Voyage.start({ backends }, cleanups);
  });
  after(() => cleanups.run());

  test('one sleeps: the other has all requests', async () => {
    fallAsleep(first);
    await voyage.until('the first one to be gone', (held) => !held.has(first.id));
    const { hits } = first;
    assert.deepEqual([...(await voyage.tally(50))], [[second.id, 50]]);
    assert.equal(first.hits, hits);
  });

  test('all sleep: 503 at once instead of requests that nobody answers', async () => {
    fallAsleep(second);
    await voyage.until('both to be gone', (held) => held.size === 0);
    assert.deepEqual([...(await voyage.tally(20))], [['status 503', 20]]);
  });

  test('one wakes: it has all requests', async () => {
    first.metrics = undefined;
    await voyage.until('the first one to be back', (held) => held.get(first.id)?.health === 'HEALTHY');
    assert.deepEqual([...(await voyage.tally(50))], [[first.id, 50]]);
  });
});
