import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../../../src/demo/random.ts';
import { encodeAssignment } from '../../../src/xds/resources/assignment.ts';
import { LoadModel } from '../../soak/load-model.ts';
import { sharesOf } from '../../soak/shares.ts';

/** What runs on the average of minutes of a second each, and how many queue at the most. */
function play(share: number, index = 1): { readonly running: number; readonly queued: number } {
  const model = new LoadModel(index, createRandom(1));
  model.share = share;
  let running = 0;
  let queued = 0;
  for (let second = 1; second <= 600; second++) {
    const load = model.at(second);
    assert.ok(load.kv >= 0 && load.kv <= 1 && load.running >= 0);
    running += load.running / 600;
    queued = Math.max(queued, load.queued);
  }
  return { running, queued };
}

test('the load of a backend follows its share, and with none there is none', () => {
  const [half, fair] = [play(0.5), play(1)];
  assert.ok(fair.running > 6 && fair.running < 16, `${fair.running}`);
  assert.ok(half.running < 0.7 * fair.running);
  assert.deepEqual(play(0), { running: 0, queued: 0 });
});

test('what is too much queues', () => {
  assert.ok(play(8).queued > 100);
});

test('it counts what has finished, and from 0 after a restart', () => {
  const model = new LoadModel(3, createRandom(2));
  const counts = [10, 20, 30].map((second) => model.at(second).finished);
  assert.deepEqual(
    counts,
    counts.toSorted((one, other) => one - other),
  );
  assert.ok((counts[2] ?? 0) > 20);
  model.restart();
  assert.deepEqual(model.at(30), { queued: 0, running: 0, kv: 0, finished: 0 });
});

test('shares are those of the healthy endpoints, over what each had if all were equal', () => {
  const endpoint = (last: number, weight: number, health: 'HEALTHY' | 'UNHEALTHY') => ({
    address: `127.0.0.${last}`,
    port: 80,
    weight,
    health,
  });
  const endpoints = [endpoint(1, 30, 'HEALTHY'), endpoint(2, 10, 'HEALTHY'), endpoint(3, 99, 'UNHEALTHY')];
  const bytes = Buffer.from(encodeAssignment({ serverGroup: 'llama', endpoints, dropShare: 0 }));
  assert.deepEqual(
    [...sharesOf(bytes)],
    [
      ['127.0.0.1:80', 2.25],
      ['127.0.0.2:80', 0.75],
    ],
  );
  assert.equal(sharesOf(Buffer.alloc(0)).size, 0);
});
