import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend, pageOf } from '../support/gauge-backend.ts';
import { startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Four Envoys in front of eight backends, of which one hangs and one takes 800 ms to show its metrics. Interval 2: a
 * collection may take a second, time enough for the slow one.
 */
const SIDECARS = 4;
const SLOW_MS = 800;
const IDLE = { queued: 0, running: 0, kv: 0, finished: 0 };
const LABELS = '{server_group="llama"}';

const backends = [1, 2, 3, 4, 5, 6, 7, 8].map((last) => new GaugeBackend(`127.0.13.${last}`));
// backends are asked in this order
const [slow, hung, loaded] = backends as [GaugeBackend, GaugeBackend, GaugeBackend];

interface Answer {
  /** Assignments published when the slow one was asked. */
  readonly asked: number;
  /** Published when it answered. */
  readonly published: number;
  /** Taken by all Envoys when it answered. */
  readonly applied: number;
}

const answers: Answer[] = [];
const timers = new Set<NodeJS.Timeout>();
let voyage: Voyage;
const cleanups = new Cleanups();

function published(): number {
  return voyage.log.filter((line) => line.includes('assignment published')).length;
}

async function appliedByAll(): Promise<number> {
  return (await voyage.metric(`plimsoll_server_group_apply_delay_seconds_count${LABELS}`)) ?? 0;
}

async function answerLate(asked: number): Promise<void> {
  const answered = published();
  answers.push({ asked, published: answered, applied: await appliedByAll() });
}

before(async () => {
  await startBackends(backends, cleanups);
  voyage = await Voyage.start({ backends, sidecars: SIDECARS, interval: 2 }, cleanups);
  // another load at each collection, and so other weights
  let queued = 0;
  loaded.metrics = (_request, response) => {
    queued = 2 - queued;
    response.end(pageOf({ ...IDLE, queued }));
  };
  hung.metrics = () => undefined;
  slow.metrics = (_request, response) => {
    const asked = published();
    const timer = setTimeout(() => {
      timers.delete(timer);
      void answerLate(asked).finally(() => response.end(pageOf(IDLE)));
    }, SLOW_MS);
    timers.add(timer);
  };
  cleanups.add(() => {
    for (const timer of timers) clearTimeout(timer);
  });
});
after(() => cleanups.run());

test('all Envoys have new weights before the slow backend of the same collection has answered', async () => {
  await waitFor('two collections', () => answers.length >= 2, 15_000);
  for (const { asked, published: answered } of answers) {
    assert.ok(answered > asked, JSON.stringify(answers));
  }
  const [first, second] = answers as [Answer, Answer];
  assert.equal(second.applied - first.applied, second.published - first.published, JSON.stringify(answers));
});

test('every Envoy holds what was published last', async () => {
  await waitFor('the same weights everywhere', async () => {
    const held = await Promise.all(voyage.envoys.map((envoy) => envoy.clusters()));
    const [first, ...others] = held.map((hosts) =>
      hosts.filter(({ cluster }) => cluster === 'llama').map(({ address, weight }) => `${address} ${weight}`),
    );
    assert.equal(others.length, SIDECARS - 1);
    assert.equal(first?.length, backends.length);
    return others.every((other) => other.join() === first.join());
  });
});

test('the parts of the delay add up, and the slow backend counts with its late answers', async () => {
  const phase = (name: string): string =>
    `plimsoll_server_group_apply_phase_seconds_sum{server_group="llama",phase="${name}"}`;
  const [sum = 0, missed, ...parts] = await voyage.metrics(
    `plimsoll_server_group_apply_delay_seconds_sum${LABELS}`,
    `plimsoll_backend_missed_evaluations{server_group="llama",backend="${slow.id}"}`,
    phase('collect'),
    phase('publish'),
    phase('sidecars'),
  );
  const added = parts.reduce<number>((total, part) => total + (part ?? Number.NaN), 0);
  assert.ok(sum > 0 && Math.abs(added - sum) < 1e-6, `${parts.join(' + ')} = ${sum}`);
  assert.equal(missed, 0);
});

test('an Envoy that is gone is not waited for', async () => {
  await voyage.envoys[SIDECARS - 1]?.stop();
  const already = await appliedByAll();
  await waitFor('the others to have applied the next weights', async () => (await appliedByAll()) > already);
});
