import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../support/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

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
  readonly #child;
  readonly ended: Promise<number | string | null>;
  output = '';

  constructor(args: readonly string[]) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        resolve(code ?? signal);
      });
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  said(text: string): Promise<boolean> {
    return waitFor(`"${text}" in\n${this.output}`, () => this.output.includes(text), 20_000);
  }
}

async function serve(t: TestContext, config: string): Promise<{ readonly run: Run; readonly file: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-test-'));
  const file = join(folder, 'plimsoll.yaml');
  await writeFile(file, config);
  const run = new Run(['serve', '--config', file]);
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
