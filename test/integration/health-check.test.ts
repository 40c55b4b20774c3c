import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { configure, startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** A backend in a process of its own, which can be stopped as a whole: its kernel goes on taking connections. */
const SERVER = `
  require('node:http').createServer((request, response) => {
    response.setHeader('x-backend', '127.0.63.9').end('answered');
  }).listen(0, '127.0.63.9', function () { console.log(this.address().port); });
`;

describe('HealthCheck', () => {
  const backends = [1, 2].map((last) => new GaugeBackend(`127.0.63.${last}`));
  const dead = new GaugeBackend('127.0.63.3');
  const options = {
    loadAware: false,
    group:
      'HealthCheck: {Path: /health, IntervalSeconds: 0.3, TimeoutSeconds: 0.3, UnhealthyThreshold: 2}\nOutlierDetection: false\nDrainSeconds: 0.1',
  };
  let child: ChildProcess;
  let all: readonly Pick<GaugeBackend, 'address' | 'port'>[];
  let voyage: Voyage;
  const cleanups = new Cleanups();
  /** Requests to the one that says that it is not healthy. */
  let served = 0;

  before(async () => {
    await startBackends([...backends, dead], cleanups);
    dead.serve = (request, response) => {
      const isCheck = request.url === '/health';
      if (!isCheck) served++;
      response.statusCode = isCheck ? 503 : 200;
      response.end();
    };
    child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanups.add(() => child.kill('SIGKILL'));
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    all = [...backends, { address: '127.0.63.9', port: Number(line.toString()) }];
    voyage = await Voyage.start({ ...options, backends: all }, cleanups);
  });
  after(() => cleanups.run());

  const stats = async (): Promise<readonly (number | undefined)[]> => {
    const of = await voyage.envoy.stats(/^cluster\.llama\.membership_(healthy|total)$/);
    return [of.get('cluster.llama.membership_healthy'), of.get('cluster.llama.membership_total')];
  };
  const until = (healthy: number, total: number) =>
    waitFor(`${healthy} of ${total} healthy`, async () => {
      const [nowHealthy, nowTotal] = await stats();
      return nowHealthy === healthy && nowTotal === total;
    });

  test('an Envoy that starts waits for the first checks: its first requests are answered', async () => {
    assert.deepEqual(
      [...(await voyage.tally(60))].map(([, count]) => count > 10),
      [true, true, true],
    );
    assert.deepEqual(await stats(), [3, 3]);
  });

  test('a process that hangs is out, and returns', async () => {
    child.kill('SIGSTOP');
    await until(2, 3);
    const counts = await voyage.tally(40);
    assert.deepEqual([...counts.keys()].toSorted(), backends.map(({ id }) => id).toSorted());
    child.kill('SIGCONT');
    await until(3, 3);
    assert.equal((await voyage.tally(40)).size, 3);
  });

  test('a new backend gets nothing before it has answered, and a removed one goes though it answers', async () => {
    await voyage.underLoad(async () => {
      voyage.app.reload(configure({ ...options, backends: [...all, dead] }));
      await until(3, 4);
      voyage.app.reload(configure({ ...options, backends: all }));
      await until(3, 3);
      voyage.app.reload(configure({ ...options, backends: all.slice(1) }));
      await until(2, 2);
    });
    assert.ok(dead.hits > 0, 'it was asked');
    assert.equal(served, 0);
  });
});
