import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { configure, startBackends, Voyage } from '../support/voyage.ts';

const HEADER = 'x-plimsoll-backend';

describe('Affinity', () => {
  const backends = [1, 2, 3, 4].map((last) => new GaugeBackend(`127.0.62.${last}`));
  const [one, two, three, four] = backends as [GaugeBackend, GaugeBackend, GaugeBackend, GaugeBackend];
  const options = {
    backends,
    weights: [100, 100, 50, 50],
    group: 'EnvoyLbPolicy: RoundRobin',
    listener: `Affinity: {Header: ${HEADER}}`,
    interval: 1,
  };
  let voyage: Voyage;
  const cleanups = new Cleanups();

  before(async () => {
    await startBackends(backends, cleanups);
    for (const backend of backends) backend.moving = true;
    voyage = await Voyage.start(options, cleanups);
    await voyage.until('all backends', (held) => held.size === backends.length);
  });
  after(() => cleanups.run());

  /** A client that keeps to the backend of its first answer. */
  async function sessionAt(backend: GaugeBackend): Promise<string> {
    for (;;) {
      const answer = await voyage.send();
      if (answer.backend === backend.id) return String(answer.headers[HEADER]);
    }
  }

  /** Sends that often with the header, and goes along with another one. @returns who answered. */
  async function answers(session: string, count: number): Promise<readonly (string | undefined)[]> {
    const from: (string | undefined)[] = [];
    let header = session;
    for (let i = 0; i < count; i++) {
      const { status, backend, headers } = await voyage.send('/', { [HEADER]: header });
      assert.equal(status, 200);
      header = String(headers[HEADER] ?? header);
      from.push(backend);
    }
    return from;
  }

  test('new sessions follow the weights, and the answer names the backend', async () => {
    const counts = await voyage.tally(120, 1);
    const shares = backends.map(({ id }) => (counts.get(id) ?? 0) / 120);
    for (const [i, share] of shares.entries()) {
      const wanted = i < 2 ? 1 / 3 : 1 / 6;
      assert.ok(Math.abs(share - wanted) < 0.06, shares.join(' '));
    }
    assert.equal(Buffer.from(await sessionAt(three), 'base64').toString(), three.id);
  });

  test('known ones return to their backend', async () => {
    assert.deepEqual(new Set(await answers(await sessionAt(one), 30)), new Set([one.id]));
    assert.deepEqual(new Set(await answers(await sessionAt(four), 30)), new Set([four.id]));
  });

  test('what is no backend is as no header at all', async () => {
    for (const header of ['', '%', 'x'.repeat(2000), base64('10.255.255.1:1'), base64(`${one.id}1`)]) {
      const { status } = await voyage.send('/', { [HEADER]: header });
      assert.equal(status, 200);
    }
  });

  test('when their backend is saturated they move, stay there, and nothing fails', async () => {
    const session = await sessionAt(one);
    one.gauges = { ...one.gauges, queued: 30 };
    await voyage.until('one to be saturated', (held) => held.get(one.id)?.health === 'UNHEALTHY');
    const [first, ...rest] = await answers(session, 20);
    assert.notEqual(first, one.id);
    assert.deepEqual(new Set(rest), new Set([first]));
    one.gauges = { ...one.gauges, queued: 0 };
    await voyage.until('one to be back', (held) => held.get(one.id)?.health === 'HEALTHY');
  });

  test('when their backend is gone they move, and nothing fails', async () => {
    const session = await sessionAt(two);
    voyage.app.reload(configure({ ...options, backends: [one, three, four], weights: [100, 50, 50] }));
    await voyage.until('two to go', (held) => held.get(two.id)?.health !== 'HEALTHY');
    const moved = new Set(await answers(session, 10));
    assert.equal(moved.size, 1);
    assert.ok(!moved.has(two.id));
  });
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
