import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { request } from 'undici';
import { BUILT_MAIN } from '../support/built-main.ts';
import { freePort } from '../support/ports.ts';
import { waitFor } from '../support/wait-for.ts';

const CONFIG = `Xds: {Listen: 127.0.0.1:0, DrainSeconds: 2}
Admin: {Listen: 127.0.0.1:0}
Log: {Format: json}
ServerGroups:
  - Name: llama
    ServiceExtension: load-aware
    Servers: [{Address: 127.0.0.1, Port: 9}]
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector: {Timeout: 1, Interval: 1, HttpMetricCollect: {Path: /metrics}}
          Scheduler: {Scorers: [{Name: TotalQueuedRequests, Weight: 1}]}
`;

/** A plimsoll process, what it wrote and how it ended. */
class Run {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | string | null>;
  output = '';

  /** @param stderr where standard error goes: to `output`, to a file, or to a reader that reads nothing */
  constructor(args: readonly string[], stderr: 'output' | 'unread' | number = 'output') {
    this.#child = spawn(process.execPath, [BUILT_MAIN, ...args], {
      stdio: ['ignore', 'pipe', typeof stderr === 'number' ? stderr : 'pipe'],
    });
    for (const stream of [this.#child.stdout, stderr === 'output' ? this.#child.stderr : null]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    if (stderr === 'unread') this.#child.stderr?.pause();
    this.ended = new Promise((resolve) => {
      this.#child.once(stderr === 'unread' ? 'exit' : 'close', (code: number | null, signal: string) => {
        resolve(code ?? signal);
      });
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Whether it has a handler for the signal of this number. */
  async catches(signal: number): Promise<boolean> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, 'utf8');
    const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
    return ((BigInt(`0x${caught}`) >> BigInt(signal - 1)) & 1n) === 1n;
  }

  said(text: string): Promise<boolean> {
    return waitFor(`"${text}" in\n${this.output}`, () => this.output.includes(text), 20_000);
  }
}

async function serve(
  t: TestContext,
  config: string,
  stderr?: ConstructorParameters<typeof Run>[1],
): Promise<{ readonly run: Run; readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
  const file = join(folder, 'plimsoll.yaml');
  await writeFile(file, config);
  const run = new Run(['serve', '--config', file], stderr);
  t.after(async () => {
    run.signal('SIGKILL');
    await run.ended;
    await rm(folder, { recursive: true });
  });
  return { run, file };
}

test('SIGHUP while it stops is left out, and the end comes as it would', async (t) => {
  const { run } = await serve(t, CONFIG);
  await run.said('"msg":"ready"');
  run.signal('SIGTERM');
  await run.said('stopping');
  run.signal('SIGHUP');
  await run.said('the reload is left out');
  assert.equal(await run.ended, 0);
});

test('a second SIGTERM ends the drain period', async (t) => {
  const { run } = await serve(t, CONFIG.replace('DrainSeconds: 2', 'DrainSeconds: 3600'));
  await run.said('"msg":"ready"');
  run.signal('SIGTERM');
  await run.said('stopping');
  run.signal('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('many SIGHUPs at once are as good as one', async (t) => {
  const { run, file } = await serve(t, CONFIG);
  await run.said('"msg":"ready"');
  await writeFile(file, CONFIG.replace('Name: llama', 'Name: mistral'));
  for (let i = 0; i < 50; i++) run.signal('SIGHUP');
  await run.said('server group removed');
  run.signal('SIGTERM');
  run.signal('SIGINT');
  assert.equal(await run.ended, 0);
});

test('SIGUSR2 makes the log tell more, and at the next one as much as before', async (t) => {
  const { run } = await serve(t, CONFIG.replace('{Format: json}', '{Format: json, Level: warn}'));
  // the backend refuses connections
  await run.said('collection fails');
  assert.ok(!run.output.includes('"level":30'));
  run.signal('SIGUSR2');
  await run.said('"now":"debug","msg":"log level changed');
  run.signal('SIGUSR2');
  await run.said('"now":"warn","msg":"log level changed');
  run.signal('SIGTERM');
  run.signal('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('an xDS address in use: exit code 1, with the address and the reason', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => {
    taken.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const { run } = await serve(t, CONFIG.replace('127.0.0.1:0, Drain', `127.0.0.1:${port}, Drain`));
  assert.equal(await run.ended, 1);
  assert.match(run.output, new RegExp(`127.0.0.1.*${port}.*EADDRINUSE`));
});

test('a bad configuration: exit code 64, and every mistake with its place', async (t) => {
  const { run, file } = await serve(
    t,
    CONFIG.replace('Interval: 1', 'Interval: 99').replace('Port: 9', 'Port: 0'),
  );
  assert.equal(await run.ended, 64);
  const mistakes = run.output.trim().split('\n');
  assert.equal(mistakes.length, 2);
  for (const mistake of mistakes) assert.ok(mistake.startsWith(`${file}:`), mistake);
});

test('bad arguments: exit code 64', async () => {
  for (const args of [['serve'], ['sreve'], ['serve', '--config', 'x', '--no-such-option'], []]) {
    const run = new Run(args);
    assert.equal(await run.ended, 64, args.join(' '));
    assert.notEqual(run.output, '');
  }
});

test('SIGHUP and SIGUSR2 while it comes up do not end it', async (t) => {
  const { run } = await serve(t, CONFIG);
  // before its first line runs, nothing of ours can keep Node from being ended
  await waitFor('its first line', () => run.catches(1));
  assert.equal(run.output, '');
  for (let i = 0; i < 20; i++) run.signal(i % 2 === 0 ? 'SIGHUP' : 'SIGUSR2');
  await run.said('"msg":"ready"');
  run.signal('SIGTERM');
  assert.equal(await run.ended, 0);
});

describe('a log that cannot be written', () => {
  test('on a full disk: it serves on, and ends with 0', async (t) => {
    const full = await open('/dev/full', 'w');
    t.after(() => full.close());
    const admin = await freePort();
    const { run } = await serve(
      t,
      CONFIG.replace('Admin: {Listen: 127.0.0.1:0}', `Admin: {Listen: 127.0.0.1:${admin}}`),
      full.fd,
    );
    await waitFor(
      'readiness',
      async () => (await request(`http://127.0.0.1:${admin}/readyz`)).statusCode === 200,
    );
    run.signal('SIGHUP');
    run.signal('SIGTERM');
    assert.equal(await run.ended, 0);
  });

  test('to a reader that is stuck: it serves on, and ends', async (t) => {
    const admin = await freePort();
    const config = CONFIG.replace('Admin: {Listen: 127.0.0.1:0}', `Admin: {Listen: 127.0.0.1:${admin}}`);
    const { run, file } = await serve(t, config.replace('DrainSeconds: 2', 'DrainSeconds: 0.1'), 'unread');
    const healthy = async () => (await request(`http://127.0.0.1:${admin}/readyz`)).statusCode === 200;
    await waitFor('readiness', healthy);
    const wrong = Array.from({ length: 20 }, (_, i) => `Unknown${i}${'x'.repeat(2000)}: 1\n`).join('');
    await writeFile(file, config + wrong);
    for (let i = 0; i < 20; i++) {
      const refusals = i;
      run.signal('SIGHUP');
      await waitFor('the refusal', async () => {
        const { body } = await request(`http://127.0.0.1:${admin}/metrics`);
        const count = /^plimsoll_config_reloads_total\{result="failure"\} (\d+)$/m.exec(
          await body.text(),
        )?.[1];
        return Number(count) > refusals;
      });
    }
    assert.equal(await healthy(), true);
    run.signal('SIGTERM');
    assert.ok(['SIGKILL', 0].includes((await run.ended) ?? ''));
  });
});

test('a named pipe in place of the configuration is refused, and what comes after it is read', async (t) => {
  const { run, file } = await serve(t, CONFIG);
  await run.said('"msg":"ready"');
  await rm(file);
  await promisify(execFile)('mkfifo', [file]);
  run.signal('SIGHUP');
  await run.said('reload refused');
  await rm(file);
  await writeFile(file, CONFIG);
  // nobody has to say that there is another one
  await run.said('configuration reloaded');
  run.signal('SIGTERM');
  run.signal('SIGTERM');
  assert.equal(await run.ended, 0);
});

test('a reader of the output that leaves is no fault of ours', async () => {
  const example = fileURLToPath(new URL('../../deploy/plimsoll.yaml', import.meta.url));
  const child = spawn(process.execPath, [BUILT_MAIN, 'validate', '--config', example], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise((resolve) => {
    child.once('close', resolve);
  });
  assert.deepEqual([code, said], [0, '']);
});
