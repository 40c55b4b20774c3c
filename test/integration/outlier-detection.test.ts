import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

describe('outlier detection', () => {
  const backends = [1, 2, 3, 4].map((last) => new GaugeBackend(`127.0.48.${last}`));
  const [first] = backends as [GaugeBackend, ...GaugeBackend[]];
  let voyage: Voyage;
  const cleanups = new Cleanups();

  before(async () => {
    await startBackends(backends, cleanups);
    for (const backend of backends) backend.moving = true;
    voyage = await Voyage.start({ backends }, cleanups);
  });
  after(() => cleanups.run());

  const ejected = async () =>
    (await voyage.envoy.stats(/^cluster\.llama\.outlier_detection\.ejections_active$/)).get(
      'cluster.llama.outlier_detection.ejections_active',
    );

  test('a backend that fails every request at once is left out, and comes back', async () => {
    fail(first);
    const counts = await voyage.tally(400);
    assert.equal(await ejected(), 1);
    const failed = counts.get('status 500') ?? 0;
    assert.ok(failed >= 5 && failed < 20, `${failed} of 400 failed`);
    assert.deepEqual((await voyage.tally(100)).get('status 500'), undefined);
    first.serve = undefined;
    const { hits } = first;
    await waitFor(
      'requests at the backend that works again',
      async () => (await voyage.tally(8)) && first.hits > hits,
      20_000,
    );
    assert.equal(await ejected(), 0);
  });

  test('when all fail half of them stay: what they answer is passed on', async () => {
    backends.forEach(fail);
    await voyage.tally(100);
    assert.equal(await ejected(), 2);
    assert.deepEqual([...(await voyage.tally(100))], [['status 500', 100]]);
  });
});

function fail(backend: GaugeBackend): void {
  backend.serve = (_request, response) => {
    response.statusCode = 500;
    response.end('EngineDeadError\n');
  };
}
