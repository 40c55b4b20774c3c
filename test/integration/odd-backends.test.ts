import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend, pageOf } from '../support/gauge-backend.ts';
import { configure, startBackends, Voyage, type VoyageOptions } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

describe('one backend whose metrics cannot be had, of each kind, beside two good ones', () => {
  const kinds = {
    good: new GaugeBackend('127.0.11.1'),
    alsoGood: new GaugeBackend('127.0.11.2'),
    html: new GaugeBackend('127.0.11.3'),
    noise: new GaugeBackend('127.0.11.4'),
    drip: new GaugeBackend('127.0.11.5'),
    status: new GaugeBackend('127.0.11.6'),
    closed: new GaugeBackend('127.0.11.7'),
  };
  const backends = Object.values(kinds);
  const reasons = [
    ['html', 'not_metrics'],
    ['noise', 'too_large'],
    ['drip', 'timeout'],
    ['status', 'status'],
    ['closed', 'refused'],
  ] as const;
  let voyage: Voyage;
  const cleanups = new Cleanups();

  before(async () => {
    await startBackends(backends, cleanups);
    kinds.good.moving = true;
    kinds.alsoGood.moving = true;
    kinds.html.metrics = (_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Sign in</title>');
    };
    kinds.noise.metrics = (_request, response) => {
      const noise = Buffer.alloc(1024 * 1024, 'x');
      response.on('error', () => undefined);
      for (let i = 0; i < 9; i++) response.write(noise);
      response.end();
    };
    kinds.drip.metrics = (_request, response) => {
      const timer = setInterval(() => response.write('#'), 100);
      response.on('close', () => {
        clearInterval(timer);
      });
    };
    kinds.status.metrics = (_request, response) => {
      response.writeHead(500).end('no');
    };
    await kinds.closed.stop();
    voyage = await Voyage.start({ backends }, cleanups);
  });
  after(() => cleanups.run());

  for (const [kind, reason] of reasons) {
    test(`${kind}: the reason is ${reason}`, async () => {
      const labels = `{server_group="llama",backend="${kinds[kind].id}",reason="${reason}"}`;
      const series = `plimsoll_backend_collect_failures_total${labels}`;
      await waitFor(series, async () => ((await voyage.metric(series)) ?? 0) > 0);
    });
  }

  test('all stay in the assignment, and every request is answered', async () => {
    const held = await voyage.held();
    assert.equal(held.size, backends.length);
    for (const [id, { health }] of held) assert.equal(health, 'HEALTHY', id);
    const counts = await voyage.tally(200);
    assert.deepEqual(
      [...counts.keys()].filter((key) => key.startsWith('status')),
      [],
    );
  });
});

describe('configurations at the edge', () => {
  test('a server of weight 0 is polled and takes no request', async (t) => {
    const backends = [1, 2].map((last) => new GaugeBackend(`127.0.12.${last}`));
    const [parked, other] = backends as [GaugeBackend, GaugeBackend];
    const voyage = await start(t, { backends, weights: [0, 100] });
    const counts = await voyage.tally(50);
    assert.deepEqual([...counts], [[other.id, 50]]);
    await waitFor('a scrape of the parked one', () => parked.scrapes > 0);
    const labels = `{server_group="llama",backend="${parked.id}",state="ABSENT"}`;
    assert.equal(await voyage.metric(`plimsoll_backend_health${labels}`), 1);
  });

  test('an IPv6 backend is polled and takes requests', async (t) => {
    const backends = [new GaugeBackend('::1'), new GaugeBackend('127.0.12.3')];
    const voyage = await start(t, { backends });
    const counts = await voyage.tally(40);
    assert.deepEqual([...counts.keys()].sort(), backends.map(({ id }) => id).sort());
    assert.ok(backends.every((backend) => backend.scrapes > 0));
  });

  test('a group without an extension is plain weighted round robin and polls nobody', async (t) => {
    const backends = [4, 5].map((last) => new GaugeBackend(`127.0.12.${last}`));
    const [heavy, light] = backends as [GaugeBackend, GaugeBackend];
    const voyage = await start(t, { backends, weights: [75, 25], loadAware: false });
    const counts = await voyage.tally(400, 1);
    assert.deepEqual([...counts.keys()].sort(), [heavy.id, light.id].sort());
    assert.ok(
      Math.abs((counts.get(heavy.id) ?? 0) - 300) <= 4,
      `${counts.get(heavy.id)} of 400 for a share of 0.75`,
    );
    assert.deepEqual(
      backends.map((backend) => backend.scrapes),
      [0, 0],
    );
  });

  test('no servers: 503, no available upstream', async (t) => {
    const backends = [new GaugeBackend('127.0.12.6')];
    const voyage = await start(t, { backends });
    const { serverGroups, ...rest } = configure({ backends });
    voyage.app.reload({ ...rest, serverGroups: serverGroups.map((group) => ({ ...group, servers: [] })) });
    const { status, body } = await waitFor('the answer of nobody', async () => {
      const answer = await voyage.send();
      return answer.status === 503 && answer;
    });
    assert.deepEqual([status, body], [503, 'no available upstream']);
  });
});

async function start(
  t: TestContext,
  options: Omit<VoyageOptions, 'backends'> & { readonly backends: readonly GaugeBackend[] },
): Promise<Voyage> {
  const cleanups = new Cleanups();
  t.after(() => cleanups.run());
  await startBackends(options.backends, cleanups);
  return Voyage.start(options, cleanups);
}

test('a first answer waits for slow metrics, and not for ever for those that never come', async (t) => {
  const backends = [7, 8].map((last) => new GaugeBackend(`127.0.12.${last}`));
  const [slow, hung] = backends as [GaugeBackend, GaugeBackend];
  const cleanups = new Cleanups();
  t.after(() => cleanups.run());
  await startBackends(backends, cleanups);
  slow.metrics = (_request, response) => {
    setTimeout(() => response.end(pageOf({ queued: 30, running: 40, kv: 0.9, finished: 0 })), 500);
  };
  hung.metrics = () => undefined;
  const startedAt = performance.now();
  const voyage = await Voyage.start({ backends }, cleanups);
  const held = await voyage.held();
  const seconds = (performance.now() - startedAt) / 1000;
  assert.ok(seconds > 0.9, `Envoy had endpoints after ${seconds} s`);
  assert.deepEqual([held.get(slow.id)?.health, held.get(hung.id)?.health], ['UNHEALTHY', 'HEALTHY']);
});
