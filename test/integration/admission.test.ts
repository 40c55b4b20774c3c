import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend, pageOf } from '../support/gauge-backend.ts';
import { type Answer, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const GROUP = '{server_group="llama"}';
const FINISHED_PER_SECOND = 10;
/** The wait that is aimed at, at that rate. */
const AIMED_AT = 3;

/** Both at once, since each mostly waits. */
describe('admission', { concurrency: true }, () => {
  for (const mode of ['ads', 'eds'] as const) {
    describe(`sidecar in mode ${mode}`, { concurrency: 1 }, () => {
      const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.47.${last}`));
      let queued = 0;
      let voyage: Voyage;
      const cleanups = new Cleanups();

      before(async () => {
        await startBackends(backends, cleanups);
        for (const backend of backends) work(backend, () => queued);
        voyage = await Voyage.start(
          {
            backends,
            mode,
            group: 'RetryAfterSeconds: 7',
            // what is refused is to be admission's doing alone
            scheduler: 'Saturation: {TotalQueuedRequests: {Mark: 1000}}',
          },
          cleanups,
        );
      });
      after(() => cleanups.run());

      const shed = () => voyage.metric(`plimsoll_server_group_shed_ratio${GROUP}`);
      const evaluations = async () =>
        (await voyage.metric(`plimsoll_server_group_evaluations_total${GROUP}`)) ?? 0;
      const evaluated = async (more: number) => {
        const seen = await evaluations();
        await waitFor('evaluations', async () => (await evaluations()) >= seen + more);
      };

      test('nothing is refused while nothing has to wait long', async () => {
        queued = AIMED_AT;
        await evaluated(3);
        assert.equal(await shed(), 0);
        assert.deepEqual((await voyage.tally(100)).get('status 503'), undefined);
      });

      test('when all have to wait a share is refused, and the metric says which', async () => {
        queued = 8 * AIMED_AT;
        await waitFor('the most', async () => (await shed()) === 0.95, 20_000);
        // so long that some of it has become a habit
        await evaluated(4);
        queued = AIMED_AT;
        const share = await waitFor(
          'a share that stays',
          async () => {
            const seen = await shed();
            await evaluated(2);
            return (await shed()) === seen && seen;
          },
          20_000,
        );
        assert.ok(share > 0.2 && share < 0.8, `${share}`);
        const count = 2000;
        const answers = await Promise.all(Array.from({ length: count }, () => voyage.send()));
        const refused = answers.filter(({ status }) => status !== 200);
        assert.deepEqual([...new Set(refused.map(described))], ['503 no available upstream 7 true']);
        const margin = 4 * Math.sqrt((share * (1 - share)) / count);
        assert.ok(
          Math.abs(refused.length / count - share) < margin,
          `${refused.length} of ${count} refused, p ${share} ± ${margin}`,
        );
      });

      test('the load falls: within 15 s nothing is refused any more', async () => {
        queued = 0;
        const seen = await evaluations();
        await waitFor('the end of it', async () => (await shed()) === 0, 30_000);
        assert.ok((await evaluations()) - seen <= 16);
        await voyage.until('equal weights', (held) =>
          [...held.values()].every(({ weight }) => weight === 100_000),
        );
        assert.deepEqual((await voyage.tally(100)).get('status 503'), undefined);
      });
    });
  }
});

/** Makes it an engine that finishes so many requests between two scrapes, whatever queues. */
function work(backend: GaugeBackend, queued: () => number): void {
  let finished = 0;
  backend.metrics = (_request, response) => {
    finished += FINISHED_PER_SECOND;
    const gauges = { queued: queued(), running: 8, kv: 0.5, finished };
    response.setHeader('content-type', 'text/plain').end(pageOf(gauges));
  };
}

function described({ status, body, headers }: Answer): string {
  return [status, body, headers['retry-after'], headers['x-envoy-drop-overload']].join(' ');
}
