import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '../runtime/clock.ts';
import { PlimsollError } from '../runtime/errors.ts';
import { type SimulatedBackend, startBackends } from './backend.ts';
import { tooSlow } from './children.ts';
import { ControlPlane, plimsollOutput } from './control-plane.ts';
import { type DemoConfig, demoConfig, LISTENER, SERVER_GROUP } from './demo-config.ts';
import { Envoy } from './envoy.ts';
import { readPlaneMetrics } from './plane-metrics.ts';

const UNTIL_SECONDS = 20;
const ANYWHERE = { xds: '127.0.0.1:0', admin: '127.0.0.1:0' };

/**
 * Everything that a demo runs on: simulated backends, the control plane and a real Envoy with the bootstrap that
 * `plimsoll bootstrap --mode ads` prints. The group starts as plain weighted round robin.
 */
export class Stage {
  readonly backends: readonly SimulatedBackend[];
  readonly envoy: Envoy;
  readonly #folder: string;
  readonly #listenerPort: number;
  #plane: ControlPlane;

  /**
   * @param slow how much slower than the others the last backend is.
   * @param signal gives up
   * @throws PlimsollError when a part cannot be started, the signal's reason when it aborts; nothing is left behind
   * then.
   */
  static async open(count: number, slow: number, signal: AbortSignal): Promise<Stage> {
    const undo: (() => Promise<unknown>)[] = [];
    try {
      const folder = await mkdtemp(join(tmpdir(), 'plimsoll-demo-'));
      undo.unshift(() => rm(folder, { recursive: true, force: true }));
      const backends = await startBackends(count, (index) => ({ slowness: index === count - 1 ? slow : 1 }));
      undo.unshift(() => Promise.all(backends.map((backend) => backend.stop())));
      const listenerPort = await freePort();
      const config = configFile(folder);
      await writeFile(config, demoConfig({ backends, loadAware: false, ...ANYWHERE, listenerPort }));
      const plane = await ControlPlane.start({ config, signal });
      undo.unshift(() => plane.kill());
      const options = `--mode ads --xds ${plane.xds} --admin-port 0 --node-id demo`.split(' ');
      const bootstrap = await plimsollOutput(['bootstrap', '--config', config, ...options], signal);
      const envoy = await Envoy.start({ bootstrap, signal });
      undo.unshift(() => envoy.stop());
      await until(
        'the listener of Envoy',
        signal,
        async () => (await envoy.listener(LISTENER)) !== undefined,
      );
      return new Stage(folder, backends, listenerPort, plane, envoy);
    } catch (error) {
      for (const step of undo) await step();
      throw error;
    }
  }

  private constructor(
    folder: string,
    backends: readonly SimulatedBackend[],
    listenerPort: number,
    plane: ControlPlane,
    envoy: Envoy,
  ) {
    this.#folder = folder;
    this.backends = backends;
    this.#listenerPort = listenerPort;
    this.#plane = plane;
    this.envoy = envoy;
  }

  get plane(): ControlPlane {
    return this.#plane;
  }

  /** Where requests go. */
  get origin(): string {
    return `http://127.0.0.1:${this.#listenerPort}`;
  }

  /** Where to look, and where to send requests: the same from the first act to the end. */
  get addresses(): readonly string[] {
    return [
      `page   http://${this.#plane.admin}/`,
      `top    plimsoll top --admin http://${this.#plane.admin}`,
      `Envoy  http://${this.envoy.admin}/   POST ${this.origin}/v1/completions`,
    ];
  }

  get configFile(): string {
    return configFile(this.#folder);
  }

  /**
   * Gives the group its load-aware extension: one line of the file, then SIGHUP. Resolves when Envoy has it.
   * @throws PlimsollError `io` when that takes too long, the signal's reason when it aborts.
   */
  async becomeLoadAware(signal: AbortSignal): Promise<void> {
    const before = await this.#modifiedClusters();
    await this.#write(ANYWHERE);
    this.#plane.reload();
    await until('load-aware weights', signal, async () => {
      const { mode } = readPlaneMetrics(await this.#plane.metrics(), SERVER_GROUP);
      return mode === 'balanced' && (await this.#modifiedClusters()) > before;
    });
  }

  /**
   * Starts the control plane again where the old one was, which must have ended, with the same addresses.
   * @throws PlimsollError `io` when it cannot be started, the signal's reason when it aborts.
   */
  async restartPlane(signal: AbortSignal): Promise<void> {
    const { xds, admin } = this.#plane;
    await this.#write({ xds, admin });
    this.#plane = await ControlPlane.start({ config: this.configFile, signal });
  }

  /** Ends everything. `keepLog`: Envoy's log stays; the result is its path. */
  async close(keepLog: boolean): Promise<string | undefined> {
    const log = keepLog ? await this.envoy.stopAndKeepLog() : undefined;
    if (!keepLog) await this.envoy.stop();
    await this.#plane.stop();
    await Promise.all(this.backends.map((backend) => backend.stop()));
    await rm(this.#folder, { recursive: true, force: true });
    return log;
  }

  #write(addresses: Pick<DemoConfig, 'xds' | 'admin'>): Promise<void> {
    const { backends } = this;
    const settings = { backends, loadAware: true, ...addresses, listenerPort: this.#listenerPort };
    return writeFile(this.configFile, demoConfig(settings));
  }

  /** Clusters that Envoy has changed and finished warming; NaN while it warms one. */
  async #modifiedClusters(): Promise<number> {
    const stats = await this.envoy.stats(/^cluster_manager\.(cluster_modified|warming_clusters)$/);
    if (stats.get('cluster_manager.warming_clusters') !== 0) return Number.NaN;
    return stats.get('cluster_manager.cluster_modified') ?? Number.NaN;
  }
}

function configFile(folder: string): string {
  return join(folder, 'plimsoll.yaml');
}

/** A port of 127.0.0.1 that nobody uses at this moment. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}

async function until(what: string, signal: AbortSignal, holds: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.now() + UNTIL_SECONDS * 1000;
  while (!(await holds())) {
    if (systemClock.now() > deadline)
      throw new PlimsollError('io', `${what}: ${tooSlow('there', UNTIL_SECONDS)}`);
    await sleep(systemClock, 50, signal);
    signal.throwIfAborted();
  }
}
