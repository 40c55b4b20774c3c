import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends, Voyage } from '../support/voyage.ts';

const IDLE = { queued: 0, running: 0, kv: 0, finished: 0 };
const SATURATED = { queued: 20, running: 30, kv: 0.9, finished: 0 };

for (const mode of ['ads', 'eds'] as const) {
  describe(`saturation, sidecar in mode ${mode}`, () => {
    const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.10.${last}`));
    const [first] = backends as [GaugeBackend, ...GaugeBackend[]];
    let voyage: Voyage;
    const cleanups = new Cleanups();

    before(async () => {
      await startBackends(backends, cleanups);
      for (const backend of backends) backend.moving = true;
      voyage = await Voyage.start(
        {
          backends,
          mode,
          group: 'RetryAfterSeconds: 7',
          // marks alone, so that everything is refused or nothing
          scheduler: 'Saturation: {Admission: None}',
        },
        cleanups,
      );
    });
    after(() => cleanups.run());

    test('no new request reaches a saturated backend', async () => {
      first.gauges = SATURATED;
      await voyage.until('the mark', (held) => held.get(first.id)?.health === 'UNHEALTHY');
      const hits = first.hits;
      const counts = await voyage.tally(200);
      assert.equal(first.hits, hits);
      assert.equal(counts.get(first.id), undefined);
      assert.equal(
        [...counts.values()].reduce((sum, count) => sum + count),
        200,
      );
      assert.equal(counts.size, 2);
    });

    test('all saturated: 503, no available upstream, retry-after', async () => {
      for (const backend of backends) backend.gauges = SATURATED;
      await voyage.until('all marks', (held) =>
        [...held.values()].every(({ health }) => health === 'UNHEALTHY'),
      );
      const { status, body, headers } = await voyage.send();
      assert.deepEqual([status, body, headers['retry-after']], [503, 'no available upstream', '7']);
      assert.deepEqual([...(await voyage.tally(50))], [['status 503', 50]]);
    });

    test('the load falls: requests are answered again', async () => {
      for (const backend of backends) backend.gauges = IDLE;
      await voyage.until('the end of the marks', (held) =>
        [...held.values()].every(({ health }) => health === 'HEALTHY'),
      );
      const counts = await voyage.tally(30);
      assert.deepEqual([...counts.keys()].sort(), backends.map(({ id }) => id).sort());
    });
  });
}
