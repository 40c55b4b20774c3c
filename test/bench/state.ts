import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LiveState } from '../../src/admin/live-state.ts';
import type { GroupDecision } from '../../src/core/model/decision.ts';
import type { GroupStatus } from '../../src/core/model/group-status.ts';
import { systemClock, unixMs } from '../../src/runtime/clock.ts';
import { adminServer } from '../support/admin-server.ts';
import { type Answer, Fleet, loadAwareGroup } from '../support/fleet.ts';

/**
 * What it costs to let operators look: processor time of the admin server alone while a group is evaluated each second,
 * with nobody and with so many event streams of another process. Only that nobody costs next to nothing is asserted.
 */
const BACKENDS = 1_000;
const CLIENTS = [0, 1, 10] as const;
const SECONDS = 20;
/** Of a core, with nobody there. */
const IDLE_MAX = 0.01;

if (process.argv[2] === 'clients') follow(String(process.argv[3]), Number(process.argv[4]));
else await main();

/** Reads the events and does nothing with them. */
function follow(url: string, count: number): void {
  for (let i = 0; i < count; i++) {
    get(url, { agent: false }, (response) => response.on('data', (chunk: Buffer) => report(chunk.length)));
  }
}

let received = 0;
function report(bytes: number): void {
  received += bytes;
  process.send?.(received);
}

async function main(): Promise<void> {
  const fleet = new Fleet(BACKENDS);
  let status: GroupStatus | undefined;
  const state = new LiveState({
    version: '0.0.0',
    file: 'bench.yaml',
    ready: () => true,
    status: () => status,
    now: () => systemClock.now(),
    unixMs,
  });
  state.configure([loadAwareGroup(fleet.servers)]);
  const server = adminServer({ state });
  const { port } = await server.listen();
  const decisions = Array.from({ length: 8 }, (_, step) => fleet.step(answersAt(step)));
  let step = 0;
  const evaluation = setInterval(() => {
    const decision = decisions[step++ % decisions.length] as GroupDecision;
    const newest = { ...decision, backends: decision.backends, atMs: systemClock.now() };
    status = statusOf(newest);
    state.published('llama', `v${step}`);
    state.evaluated(newest);
  }, 1000);
  process.stdout.write(`${availableParallelism()} cores, ${BACKENDS} backends, evaluated each second\n`);
  for (const count of CLIENTS) {
    const { share, bytesPerSecond } = await measure(`http://127.0.0.1:${port}/events`, count);
    process.stdout.write(
      `${count} event streams: ${(100 * share).toFixed(2)} % of a core, ${(bytesPerSecond / 1000).toFixed(0)} kB/s\n`,
    );
    if (count === 0) assert.ok(share < IDLE_MAX, 'nobody looks, and yet it costs');
  }
  clearInterval(evaluation);
  await server.stop();
}

async function measure(url: string, count: number) {
  let bytes = 0;
  const clients =
    count === 0 ? undefined : fork(fileURLToPath(import.meta.url), ['clients', url, String(count)]);
  clients?.on('message', (value) => {
    bytes = Number(value);
  });
  await delay(4000);
  const before = process.cpuUsage();
  const bytesBefore = bytes;
  await delay(SECONDS * 1000);
  const { user, system } = process.cpuUsage(before);
  const result = { share: (user + system) / 1e6 / SECONDS, bytesPerSecond: (bytes - bytesBefore) / SECONDS };
  if (clients !== undefined) {
    clients.kill();
    await once(clients, 'exit');
  }
  return result;
}

/** Load that differs between backends and from run to run; one in fifty does not answer. */
function answersAt(step: number): readonly Answer[] {
  return Array.from({ length: BACKENDS }, (_, index): Answer => {
    const running = 5 + ((index * 7 + step * 13) % 40);
    return index % 50 === 7
      ? 'timeout'
      : { queued: (index + step) % 5, running, kvUtilization: running / 64, finished: step * 10 };
  });
}

function statusOf(newest: GroupDecision): GroupStatus {
  const published = {
    decision: newest,
    version: 'v1',
    atMs: newest.atMs,
    firstAcknowledgedAtMs: newest.atMs,
  };
  return { newest, published, streams: { following: 10, current: 10 } };
}
