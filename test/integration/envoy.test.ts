import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { planArrivals } from '../../src/demo/arrivals.ts';
import { type SimulatedBackend, startBackends } from '../../src/demo/backend.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { runLoad } from '../../src/demo/load.ts';
import { waitFor } from '../support/wait-for.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Round robin over backends, all in the bootstrap; every port is the kernel's choice. */
function staticBootstrap(backends: readonly SimulatedBackend[]): string {
  const address = (host: string, port: number) => ({ socket_address: { address: host, port_value: port } });
  const router = { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' };
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'test',
    http_filters: [{ name: 'router', typed_config: router }],
    route_config: {
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'llama', timeout: '0s' } }],
        },
      ],
    },
  };
  return JSON.stringify({
    admin: { address: address('127.0.0.1', 0) },
    static_resources: {
      listeners: [
        {
          name: 'inference',
          address: address('127.0.0.1', 0),
          enable_reuse_port: false,
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters: [
        {
          name: 'llama',
          connect_timeout: '1s',
          load_assignment: {
            cluster_name: 'llama',
            endpoints: [
              {
                lb_endpoints: backends.map((backend, index) => ({
                  endpoint: { address: address(backend.address, backend.port) },
                  load_balancing_weight: index + 1,
                })),
              },
            ],
          },
        },
      ],
    },
  });
}

describe('Envoy', () => {
  let backends: readonly SimulatedBackend[] = [];
  before(async () => {
    backends = await startBackends(3);
  });
  after(async () => {
    await Promise.all(backends.map((backend) => backend.stop()));
  });

  test('is started, says what it holds, balances by weight, and is gone after stop', async () => {
    const envoy = await Envoy.start({ bootstrap: staticBootstrap(backends) });
    try {
      const listener = await envoy.listener('inference');
      assert.match(listener ?? '', /^127\.0\.0\.1:[1-9]\d+$/);
      assert.equal(await envoy.listener('absent'), undefined);
      assert.deepEqual(
        await envoy.clusters(),
        backends.map(({ id }, index) => ({
          cluster: 'llama',
          address: id,
          weight: index + 1,
          health: 'HEALTHY',
        })),
      );
      const mix = {
        prompt: { median: 5, sigma: 0, most: 5 },
        output: { median: 2, sigma: 0, most: 2 },
        longShare: 0,
        longPrompt: { median: 5, sigma: 0, most: 5 },
      };
      const arrivals = planArrivals({ seed: 1, ratePerSecond: 200, seconds: 3, mix }).slice(0, 300);
      const results = await runLoad({ origin: `http://${listener}`, arrivals });
      assert.ok(results.every(({ outcome }) => outcome.kind === 'ok'));
      const served = backends.map(({ id }) => results.filter(({ backend }) => backend === id).length);
      served.forEach((count, index) => {
        assert.ok(Math.abs(count - 50 * (index + 1)) <= 3, `served ${served.join(', ')}`);
      });
      const stats = await envoy.stats(/^cluster\.llama\.upstream_rq_total$/);
      assert.deepEqual(stats, new Map([['cluster.llama.upstream_rq_total', 300]]));
      assert.ok(envoy.running && isAlive(envoy.pid));
    } finally {
      await envoy.stop();
    }
    assert.ok(!envoy.running && !isAlive(envoy.pid));
    assert.ok(!existsSync(envoy.logFile));
  });

  test('a bootstrap that it refuses is an error with the end of its log', async () => {
    const started = Envoy.start({ bootstrap: '{"admin": {"adress": 1}}' });
    await assert.rejects(started, (error: Error) => {
      assert.match(error.message, /ended with 1 before it was ready; its log, \S+, ends\n.*adress/s);
      const log = /its log, (\S+),/.exec(error.message)?.[1] ?? '';
      assert.ok(existsSync(log));
      execFileSync('rm', ['-r', join(log, '..')]);
      return true;
    });
  });

  for (const ending of ['SIGTERM', 'exception'] as const) {
    test(`does not outlive a process that ends by ${ending}`, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
      const script = join(folder, 'script.mts');
      const module = new URL('../../src/demo/envoy.ts', import.meta.url).href;
      await writeFile(
        script,
        `import { Envoy } from ${JSON.stringify(module)};
         const envoy = await Envoy.start({ bootstrap: ${JSON.stringify(staticBootstrap(backends))} });
         console.log(envoy.pid);
         if (${ending === 'exception'}) throw new Error('on purpose');
         setInterval(() => undefined, 1000);`,
      );
      const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), script], {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, TMPDIR: folder },
      });
      t.after(() => child.kill('SIGKILL'));
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const ended = new Promise<unknown>((resolve) => {
        child.once('exit', (code, signal) => {
          resolve(signal ?? code);
        });
      });
      const pid = Number(await waitFor('the pid of Envoy', () => /^\d+$/m.exec(output)?.[0], 30_000));
      if (ending === 'SIGTERM') child.kill('SIGTERM');
      assert.equal(await ended, ending === 'SIGTERM' ? 'SIGTERM' : 1);
      await waitFor('Envoy to be gone', () => !isAlive(pid));
      await rm(folder, { recursive: true });
    });
  }
});
