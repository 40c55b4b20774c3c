import { pino } from 'pino';
import { App } from '../../src/app.ts';
import type { Configuration, TlsFiles } from '../../src/core/model/configuration.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { configure, startBackends } from '../support/voyage.ts';

const FULL = { queued: 500, running: 64, kv: 1, finished: 0 };
const IDLE = { queued: 0, running: 0, kv: 0, finished: 0 };

export interface PlaneOptions {
  /** They listen already, and have weights 100 and 50. */
  readonly backends: readonly Pick<GaugeBackend, 'address' | 'port'>[];
  /** Whether the group follows the load; default true. */
  readonly loadAware?: boolean;
  /** Lines of YAML in the server group `llama`. */
  readonly group?: string;
  readonly tls?: TlsFiles;
}

/** Plimsoll in this process, with one server group, for a mesh to point a cluster at. */
export class Plane {
  readonly xdsPort: number;
  readonly #configuration: Configuration;
  #app: App | undefined;
  #admin: string;

  static async start({ backends, loadAware = true, group = '', tls }: PlaneOptions): Promise<Plane> {
    const scheduler = 'Saturation: {Admission: None}';
    const made = configure({ backends, weights: [100, 50], loadAware, group, scheduler });
    const configuration = { ...made, xds: { ...made.xds, tls } };
    const app = appOf(configuration);
    const { xds, admin } = await app.start();
    const listen = { ...configuration.xds.listen, port: xds.port };
    const again = { ...configuration, xds: { ...configuration.xds, listen } };
    return new Plane(again, app, `http://127.0.0.1:${admin.port}`);
  }

  private constructor(configuration: Configuration, app: App, admin: string) {
    this.#configuration = configuration;
    this.#app = app;
    this.xdsPort = configuration.xds.listen.port;
    this.#admin = admin;
  }

  /** `http://HOST:PORT` */
  get admin(): string {
    return this.#admin;
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    await this.#app?.stop(AbortSignal.abort());
    this.#app = undefined;
  }

  /** Starts it again on the port that sidecars know; its admin port is another one. */
  async revive(): Promise<void> {
    this.#app = appOf(this.#configuration);
    const { admin } = await this.#app.start();
    this.#admin = `http://127.0.0.1:${admin.port}`;
  }
}

function appOf(configuration: Configuration): App {
  return new App({ configuration, clock: systemClock, log: pino({ level: 'silent' }) });
}

/** Two backends on `127.0.NETWORK.1` and 2. @param cleanups end them */
export async function twoBackends(
  network: number,
  cleanups: Cleanups,
): Promise<readonly [GaugeBackend, GaugeBackend]> {
  const backends = [new GaugeBackend(`127.0.${network}.1`), new GaugeBackend(`127.0.${network}.2`)] as const;
  for (const backend of backends) backend.moving = true;
  await startBackends(backends, cleanups);
  return backends;
}

/** Lets all of them say that they are saturated, or that they are idle. */
export function show(backends: readonly GaugeBackend[], load: 'full' | 'idle'): void {
  for (const backend of backends) backend.gauges = load === 'full' ? FULL : IDLE;
}
