import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane } from '../../../src/demo/control-plane.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Child } from '../routing/child.ts';
import { processorSeconds } from '../routing/processor-time.ts';
import { addressOf } from '../scrape/targets.ts';
import type { BackendsAnswer, BackendsQuestion, SidecarsAnswer, SidecarsQuestion } from './programs.ts';

/** Of the fanout bench, whose sidecars ask for it. */
const GROUP = 'bench';
const READY_MS = 60_000;

/** What has been used so far. */
export interface Counts {
  readonly atMs: number;
  /** Processor time of the control plane, seconds. */
  readonly cpuSeconds: number;
  readonly scrapes: number;
  readonly scrapedBytes: number;
  readonly pushes: number;
  readonly responses: number;
  readonly sentBytes: number;
  readonly delaySeconds: number;
  readonly delays: number;
}

export interface StageOptions {
  /** Plimsoll's main.js. */
  readonly program: string;
  readonly backends: number;
  readonly sidecars: number;
  /** Whether only what is needed of a page is asked for. */
  readonly lean: boolean;
}

/** A built control plane, its backends and its sidecars, each in a process of its own. */
export class Stage {
  readonly #plane: ControlPlane;
  readonly #backends: Child<BackendsQuestion, BackendsAnswer>;
  readonly #sidecars: Child<SidecarsQuestion, SidecarsAnswer>;
  readonly #folder: string;

  static async open({ program, backends, sidecars, lean }: StageOptions): Promise<Stage> {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-sizing-'));
    const undo: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
    try {
      const fleet = new Child<BackendsQuestion, BackendsAnswer>('../sizing/backends-program.ts');
      undo.unshift(() => fleet.stop());
      const { port } = await fleet.ask({ kind: 'start', count: backends });
      const config = join(folder, 'plimsoll.yaml');
      await writeFile(config, configOf(backends, port, lean));
      const plane = await ControlPlane.start({ config, program, readySeconds: 60 });
      undo.unshift(() => plane.kill());
      const clients = new Child<SidecarsQuestion, SidecarsAnswer>('../sizing/sidecars-program.ts');
      undo.unshift(() => clients.stop());
      const xdsPort = Number(plane.xds.slice(plane.xds.lastIndexOf(':') + 1));
      await clients.ask({ kind: 'connect', count: sidecars, port: xdsPort });
      await waitFor(
        'endpoints at every sidecar',
        async () => (await clients.ask({ kind: 'look' })).served === sidecars,
        READY_MS,
      );
      return new Stage(plane, fleet, clients, folder);
    } catch (error) {
      for (const step of undo) await step();
      throw error;
    }
  }

  private constructor(
    plane: ControlPlane,
    backends: Child<BackendsQuestion, BackendsAnswer>,
    sidecars: Child<SidecarsQuestion, SidecarsAnswer>,
    folder: string,
  ) {
    this.#plane = plane;
    this.#backends = backends;
    this.#sidecars = sidecars;
    this.#folder = folder;
  }

  /** @throws Error when a sidecar has lost its stream. */
  async counts(): Promise<Counts> {
    const page = await this.#plane.metrics();
    const { requests, bytes } = await this.#backends.ask({ kind: 'look' });
    const { responses, ended } = await this.#sidecars.ask({ kind: 'look' });
    if (ended > 0) throw new Error(`${ended} streams ended`);
    return {
      atMs: performance.now(),
      cpuSeconds: processorSeconds([this.#plane.pid]),
      scrapes: requests,
      scrapedBytes: bytes,
      pushes: sumOf(page, 'plimsoll_server_group_pushes_total'),
      responses,
      sentBytes: sumOf(page, 'plimsoll_xds_response_bytes_total'),
      delaySeconds: sumOf(page, 'plimsoll_server_group_apply_delay_seconds_sum'),
      delays: sumOf(page, 'plimsoll_server_group_apply_delay_seconds_count'),
    };
  }

  /** Resident memory of the control plane at the moment, bytes. */
  get residentBytes(): number {
    const status = readFileSync(`/proc/${this.#plane.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async close(): Promise<void> {
    await this.#sidecars.stop();
    await this.#plane.kill();
    await this.#backends.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Over all label values. */
function sumOf(page: string, name: string): number {
  return page
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** All sidecars come from one address here: the limits of one client are put up. */
function configOf(backends: number, port: number, lean: boolean): string {
  const metricCollector = {
    Timeout: 1,
    Interval: 1,
    HttpMetricCollect: { Path: '/metrics', LeanScrape: lean },
  };
  const scorers = [
    { Name: 'TotalQueuedRequests', Weight: 50 },
    { Name: 'KVCacheUtilization', Weight: 30 },
    { Name: 'RunningRequests', Weight: 20 },
  ];
  const config = { MetricCollector: metricCollector, Scheduler: { Scorers: scorers } };
  return JSON.stringify({
    Xds: { Listen: '127.0.0.1:0', Limits: { StreamsPerIdentity: 20_000, NewStreamsPerSecond: 1_000_000 } },
    Admin: { Listen: '127.0.0.1:0' },
    Log: { Format: 'json' },
    ServerGroups: [
      {
        Name: GROUP,
        ServiceExtension: 'load-aware',
        Servers: Array.from({ length: backends }, (_, index) => ({ Address: addressOf(index), Port: port })),
      },
    ],
    ServiceExtensions: [{ Name: 'load-aware', Components: [{ Type: 'LoadAwareRouting', Config: config }] }],
  });
}
