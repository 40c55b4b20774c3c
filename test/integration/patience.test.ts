import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, type TestContext, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends, Voyage, type VoyageOptions } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const BUSY = { queued: 1, running: 20, kv: 0.4, finished: 0 };
const SATURATED = { queued: 30, running: 40, kv: 0.9, finished: 0 };

/** What takes its time by the rule or by its nature; all at once, since each mostly waits. */
describe('patience', { concurrency: true }, () => {
  test('one of four without metrics: near the floor, and it stays', async (t) => {
    const { voyage, backends } = await start(t, '127.0.20', 4);
    const [lost] = backends as [GaugeBackend, ...GaugeBackend[]];
    await voyage.until('four equal ones', (held) => (held.get(lost.id)?.share ?? 0) === 0.25);
    lost.metrics = (_request, response) => {
      response.writeHead(500).end();
    };
    for (const backend of backends.slice(1)) backend.gauges = { ...BUSY, queued: 0, running: 2 };
    backends[1]!.gauges = { ...BUSY, queued: 2, running: 40 };
    await voyage.until('the worst of the fresh', (held) => (held.get(lost.id)?.share ?? 1) < 0.12);
    const held = await voyage.held();
    assert.equal(held.get(lost.id)?.health, 'HEALTHY');
    assert.equal(held.size, 4);
    const counts = await voyage.tally(200);
    assert.ok((counts.get(lost.id) ?? 0) > 0, 'it still gets requests');
  });

  test('all without metrics: what was published stands, then configured weights', async (t) => {
    const { voyage, backends } = await start(t, '127.0.21', 2, { weights: [100, 50] });
    const [heavy, light] = backends as [GaugeBackend, GaugeBackend];
    heavy.gauges = { ...BUSY, queued: 3, running: 60 };
    light.gauges = { ...BUSY, queued: 0, running: 2 };
    await voyage.until('less for the loaded one', (held) => (held.get(heavy.id)?.share ?? 1) < 0.4);
    for (const backend of backends) {
      backend.metrics = (_request, response) => {
        response.writeHead(503).end();
      };
    }
    const lostAt = performance.now();
    await waitFor('the failures', async () => {
      const labels = `{server_group="llama",backend="${heavy.id}",reason="status"}`;
      return ((await voyage.metric(`plimsoll_backend_collect_failures_total${labels}`)) ?? 0) > 3;
    });
    const standing = await voyage.held();
    assert.ok((standing.get(heavy.id)?.share ?? 1) < 0.45, 'what was published stands');
    const held = await voyage.until(
      'configured weights',
      (now) => Math.abs((now.get(heavy.id)?.share ?? 0) - 2 / 3) < 0.001,
      60_000,
    );
    const seconds = (performance.now() - lostAt) / 1000;
    assert.ok(seconds > 25, `configured weights after ${seconds} s, stated: 30 s`);
    assert.ok([...held.values()].every(({ health }) => health === 'HEALTHY'));
    assert.equal(
      await voyage.metric('plimsoll_server_group_mode{server_group="llama",mode="configured"}'),
      1,
    );
  });

  test('connection refused: the worst at once, without waiting for a second miss', async (t) => {
    const { voyage, backends } = await start(t, '127.0.22', 4);
    const [gone] = backends as [GaugeBackend, ...GaugeBackend[]];
    for (const backend of backends) backend.gauges = { ...BUSY, queued: 0, running: 4 };
    backends[3]!.gauges = { ...BUSY, queued: 2, running: 50 };
    await voyage.until('more for an idle one', (held) => (held.get(gone.id)?.share ?? 0) > 0.26);
    const evaluations = () => voyage.metric('plimsoll_server_group_evaluations_total{server_group="llama"}');
    const before = (await evaluations()) ?? 0;
    await waitFor('the pause between two scrapes', async () => ((await evaluations()) ?? 0) > before);
    await gone.stop();
    const labels = `{server_group="llama",backend="${gone.id}"}`;
    // both of one decision, on one page: it is looked at many times between two of them
    const [missed, share] = await waitFor('a miss', async () => {
      const values = await voyage.metrics(
        `plimsoll_backend_missed_evaluations${labels}`,
        `plimsoll_backend_share_ratio${labels}`,
      );
      return (values[0] ?? 0) > 0 && values;
    });
    assert.equal(missed, 1);
    assert.ok((share ?? 1) < 0.12, `a share of ${share}`);
    await voyage.until('near the floor', (held) => (held.get(gone.id)?.share ?? 1) < 0.12);
    assert.equal((await voyage.tally(100)).get('status 503'), undefined);
  });

  test('frozen at a saturated value after all requests were aborted: back after 10 s', async (t) => {
    const { voyage, backends } = await start(t, '127.0.23', 2);
    for (const backend of backends) backend.gauges = { ...SATURATED, finished: backend.gauges.finished };
    // all of them count only after the most has been refused for a while
    await voyage.until(
      'all marks',
      (held) => [...held.values()].every(({ health }) => health === 'UNHEALTHY'),
      20_000,
    );
    assert.equal((await voyage.send()).status, 503);
    for (const backend of backends) backend.moving = false;
    const stoodStill = performance.now();
    await voyage.until(
      'back',
      (held) => [...held.values()].every(({ health }) => health === 'HEALTHY'),
      60_000,
    );
    const seconds = (performance.now() - stoodStill) / 1000;
    assert.ok(seconds > 7, `back after ${seconds} s, stated: 10 s`);
    assert.equal((await voyage.send()).status, 200);
    assert.equal(
      await voyage.metric(`plimsoll_backend_frozen{server_group="llama",backend="${backends[0]!.id}"}`),
      1,
    );
    // the request wakes the engine: its gauges move again
    for (const backend of backends) backend.gauges = { queued: 0, running: 0, kv: 0, finished: 1 };
    await waitFor('the end of the freeze', async () => {
      const frozen = `plimsoll_backend_frozen{server_group="llama",backend="${backends[0]!.id}"}`;
      return (await voyage.metric(frozen)) === 0;
    });
  });

  test('a stream of 40 s and gaps of 6 s pass whole', async (t) => {
    const { voyage, backends } = await start(t, '127.0.24', 2);
    for (const backend of backends) {
      backend.serve = (request, response) => {
        response.setHeader('x-backend', backend.id);
        if (request.url === '/short') {
          response.end('ok\n');
          return;
        }
        let sent = 0;
        const timer = setInterval(() => {
          response.write(`token ${sent++}\n`);
          if (sent < 20) return;
          clearInterval(timer);
          response.end('end\n');
        }, 2000);
      };
    }
    const long = voyage.send('/stream');
    const short: number[] = [];
    for (let i = 0; i < 6; i++) {
      short.push((await voyage.send('/short')).status);
      // longer than servers keep an idle connection: the gap itself is what is tested
      await delay(6000);
    }
    const { status, body } = await long;
    assert.equal(status, 200);
    assert.equal(body.split('\n').filter((line) => line.startsWith('token')).length, 20);
    assert.ok(body.endsWith('end\n'));
    assert.deepEqual(short, [200, 200, 200, 200, 200, 200]);
  });
});

test('2,000 requests at once: nothing fails', async (t) => {
  const { voyage, backends } = await start(t, '127.0.25', 2);
  const waiting: (() => void)[] = [];
  for (const backend of backends) {
    backend.serve = (_request, response) => {
      waiting.push(() => response.setHeader('x-backend', backend.id).end('ok\n'));
      if (waiting.length === 2000) for (const answer of waiting) answer();
    };
  }
  const counts = await voyage.tally(2000, 2000);
  assert.equal(
    [...counts.values()].reduce((sum, count) => sum + count),
    2000,
  );
  assert.deepEqual([...counts.keys()].sort(), backends.map(({ id }) => id).sort());
});

async function start(
  t: TestContext,
  network: string,
  count: number,
  options: Omit<VoyageOptions, 'backends'> = {},
): Promise<{ readonly voyage: Voyage; readonly backends: readonly GaugeBackend[] }> {
  const backends = Array.from({ length: count }, (_, i) => new GaugeBackend(`${network}.${i + 1}`));
  const cleanups = new Cleanups();
  t.after(() => cleanups.run());
  await startBackends(backends, cleanups);
  for (const backend of backends) backend.moving = true;
  return { voyage: await Voyage.start({ backends, ...options }, cleanups), backends };
}
