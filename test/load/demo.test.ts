import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { planArrivals } from '../../src/demo/arrivals.ts';
import { type SimulatedBackend, startBackends } from '../../src/demo/backend.ts';
import { demo } from '../../src/demo/demo.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { runLoad } from '../../src/demo/load.ts';
import { Stage } from '../../src/demo/stage.ts';
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
    test(`does not outlive a process that ends by ${ending}`, async () => {
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
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const ended = new Promise<unknown>((resolve) => {
        child.once('exit', (code, signal) => {
          resolve(signal ?? code);
        });
      });
      const pid = Number(await waitFor('the pid of Envoy', () => /^\d+$/m.exec(output)?.[0]));
      if (ending === 'SIGTERM') child.kill('SIGTERM');
      assert.equal(await ended, ending === 'SIGTERM' ? 'SIGTERM' : 1);
      await waitFor('Envoy to be gone', () => !isAlive(pid));
      await rm(folder, { recursive: true });
    });
  }
});

/** Command lines of the living children of this process. */
function children(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const parent = /\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
        return Number(parent) === process.pid ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
      } catch {
        return []; // it has just ended
      }
    })
    .filter((command) => /envoy|serve/.test(command));
}

interface DemoRun {
  readonly code: number;
  readonly out: string;
  readonly shown: readonly string[];
}

/** Runs a demo, the shortest whose checks hold for sure, that stays up until `stop` aborts. */
async function runDemo(stop: AbortController, onShown: (text: string) => void = () => {}): Promise<DemoRun> {
  const shown: string[] = [];
  let out = '';
  const code = await demo(
    { seconds: 60, backends: 4, seed: 1, json: true, keep: true },
    {
      out: (text) => {
        out += text;
      },
      display: {
        write: (text) => {
          shown.push(text);
          onShown(text);
        },
        columns: undefined,
        color: false,
      },
      signal: stop.signal,
    },
  );
  return { code, out, shown };
}

/** The same, until something is shown that matches `until`. */
function runDemoUntil(until: RegExp): Promise<DemoRun> {
  const stop = new AbortController();
  return runDemo(stop, (text) => {
    if (!until.test(text)) return;
    assert.equal(children().length, 2, children().join('\n'));
    stop.abort();
  });
}

describe('demo', () => {
  test('plays all acts, every check holds, stays up, and leaves nothing behind', async () => {
    const { code, out, shown } = await runDemoUntil(/^staying up.*control plane up.*score \d/);
    const report = JSON.parse(out) as {
      readonly ok: boolean;
      readonly acts: readonly {
        readonly act: number;
        readonly requests: number;
        readonly settled: { readonly toldToRefuseRatio: number; readonly refusedRatio: number };
      }[];
      readonly checks: readonly { readonly name: string; readonly ok: boolean }[];
    };
    assert.deepEqual(
      report.acts.map(({ act }) => act),
      [1, 2, 3, 4, 5],
    );
    const [plain, loadAware] = report.acts;
    assert.equal(plain?.requests, loadAware?.requests);
    assert.ok(report.acts.every(({ requests }) => requests > 0));
    assert.deepEqual(
      report.checks.map(({ ok }) => ok),
      [true, true, true, true, true, true],
      JSON.stringify(report, null, 2),
    );
    assert.deepEqual([report.ok, code], [true, 0]);
    const { toldToRefuseRatio: told, refusedRatio: refused } = report.acts[2]?.settled ?? {};
    assert.ok(Math.abs((told ?? 0) - (refused ?? 1)) < 0.15, `told to refuse ${told}, refused ${refused}`);
    const lines = shown.join('');
    for (let act = 1; act <= 5; act++) assert.match(lines, new RegExp(`^act ${act}: `, 'm'));
    assert.match(lines, /^act 3.* p [1-9]\d?%/m);
    assert.match(lines, /^act 5.*control plane down.*weight \d/m);
    assert.match(lines, /^act +requests/m);
    const address = /^page {3}http:\/\/([\d.:]+)\/\ntop {4}plimsoll top --admin http:\/\/\1$/m.exec(
      lines,
    )?.[1];
    assert.ok(address !== undefined && lines.indexOf(address) < lines.indexOf('act 1: '), lines);
    assert.deepEqual(children(), []);
  });

  test('interrupted, it ends in order and leaves nothing behind', async () => {
    const { code, out, shown } = await runDemoUntil(/^act 1/);
    assert.deepEqual([code, out, shown.at(-1)], [1, '', 'interrupted\n']);
    assert.deepEqual(children(), []);
  });

  test('interrupted while Envoy starts, it ends as well', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
    const changed = { ENVOY_BIN: join(folder, 'envoy'), TMPDIR: folder };
    const environment = { ...process.env };
    Object.assign(process.env, changed);
    t.after(async () => {
      for (const name of Object.keys(changed)) delete process.env[name];
      Object.assign(process.env, environment);
      await rm(folder, { recursive: true });
    });
    const neverReady = `#!${process.execPath}
      require('node:fs').writeFileSync(__dirname + '/started', '');
      setInterval(() => undefined, 1000);`;
    await writeFile(changed.ENVOY_BIN, neverReady, { mode: 0o755 });
    const stop = new AbortController();
    const run = runDemo(stop);
    await waitFor('Envoy', () => existsSync(join(folder, 'started')), 30_000);
    stop.abort();
    const { code, out, shown } = await run;
    assert.deepEqual([code, out, shown.at(-1)], [1, '', 'interrupted\n']);
    assert.deepEqual(children(), []);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('plimsoll-')),
      [],
    );
  });

  test('interrupted between two acts, or while a control plane starts, nobody waits; what starts is where it was', async () => {
    const stage = await Stage.open(2, 1, new AbortController().signal);
    try {
      // so that weights never become load-aware
      for (const backend of stage.backends) backend.metrics = { kind: 'hang' };
      const stop = new AbortController();
      const isReason = (error: unknown): boolean => error === stop.signal.reason;
      const changing = assert.rejects(stage.becomeLoadAware(stop.signal), isReason);
      stop.abort();
      await changing;
      await stage.plane.kill();
      await assert.rejects(stage.restartPlane(stop.signal), isReason);
      const told = stage.addresses;
      await stage.restartPlane(new AbortController().signal);
      assert.deepEqual(stage.addresses, told);
    } finally {
      await stage.close(false);
    }
    assert.deepEqual(children(), []);
  });
});
