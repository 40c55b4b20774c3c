import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { App } from '../../src/app.ts';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { formatMistake, parseConfiguration } from '../../src/config/load.ts';
import type { Configuration } from '../../src/core/model/configuration.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import type { RolloutTimes } from '../../src/publish/rollout.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Cleanups } from './cleanups.ts';
import type { GaugeBackend } from './gauge-backend.ts';
import { waitFor } from './wait-for.ts';

export interface VoyageOptions {
  /** They listen already. */
  readonly backends: readonly Pick<GaugeBackend, 'address' | 'port'>[];
  /** How many Envoys; default 1. */
  readonly sidecars?: number;
  /** Seconds between collections; default 1. */
  readonly interval?: number;
  /** How the sidecar is configured; default ads. */
  readonly mode?: 'ads' | 'eds';
  /** Changes the bootstrap that the command makes. */
  readonly rewrite?: (bootstrap: string) => string;
  /** Default: as sidecars need it. */
  readonly rolloutTimes?: RolloutTimes;
  /** Lines of YAML in the server group, such as `EnvoyLbPolicy: RoundRobin`. */
  readonly group?: string;
  /** The same in the listener. */
  readonly listener?: string;
  /** Lines of YAML in the scheduler, such as `Saturation: false`. */
  readonly scheduler?: string;
  /** Configured weights, in the order of the backends; default 100 each. */
  readonly weights?: readonly number[];
  /** Lines of YAML of Discovery, in place of the backends. */
  readonly discovery?: string;
  /** Whether the group follows the load; default true. */
  readonly loadAware?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The backend that answered, undefined when Envoy did. */
  readonly backend: string | undefined;
}

/** Weight and health of a backend as Envoy holds them. */
export interface Held {
  readonly weight: number;
  readonly health: string;
  /** Its part of the weights of the healthy ones. */
  readonly share: number;
}

const GROUP = 'llama';

/** The whole path: backends, the control plane in this process, and real Envoys with our bootstrap, mostly one. */
export class Voyage {
  readonly app: App;
  /** At least one. */
  readonly envoys: readonly Envoy[];
  /** The first one. */
  readonly envoy: Envoy;
  readonly log: readonly string[];
  /** Where the sidecar listens. */
  readonly origin: string;
  readonly #agent = new Agent({ connections: 4096 });
  readonly #adminOrigin: string;

  /** @param cleanups end it */
  static start(options: VoyageOptions, cleanups: Cleanups): Promise<Voyage> {
    return cleanups.own(Voyage.#start(options), (voyage) => voyage.#end());
  }

  static async #start(options: VoyageOptions): Promise<Voyage> {
    const configuration = configure(options);
    const log: string[] = [];
    const logger = pino({ level: 'debug', base: null }, { write: (line) => log.push(line) });
    const { rolloutTimes } = options;
    const app = new App({
      configuration,
      clock: systemClock,
      log: logger,
      ...(rolloutTimes && { rolloutTimes }),
    });
    const bound = await app.start();
    const envoys: Envoy[] = [];
    try {
      const made = bootstrapOf(configuration, bound.xds.port, options.mode);
      const bootstrap = options.rewrite?.(made) ?? made;
      const first = await Envoy.start({ bootstrap });
      envoys.push(first);
      while (envoys.length < (options.sidecars ?? 1)) envoys.push(await Envoy.start({ bootstrap }));
      const listener = await waitFor('the listener', () => first.listener('inference'));
      return new Voyage(app, [first, ...envoys.slice(1)], listener, bound.admin.port, log);
    } catch (error) {
      await Promise.all(envoys.map((envoy) => envoy.stop()));
      await app.stop(AbortSignal.abort());
      throw error;
    }
  }

  private constructor(
    app: App,
    envoys: readonly [Envoy, ...Envoy[]],
    listener: string,
    adminPort: number,
    log: readonly string[],
  ) {
    this.app = app;
    this.envoys = envoys;
    this.envoy = envoys[0];
    this.log = log;
    this.origin = `http://${listener}`;
    this.#adminOrigin = `http://127.0.0.1:${adminPort}`;
  }

  /** `http://HOST:PORT` of the control plane's admin address. */
  get admin(): string {
    return this.#adminOrigin;
  }

  /** Sends one request through Envoy. */
  async send(path = '/v1/completions', sent: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const { statusCode, headers, body } = await request(this.origin + path, {
      headers: sent,
      dispatcher: this.#agent,
      headersTimeout: 60_000,
      bodyTimeout: 60_000,
    });
    const backend = headers['x-backend'];
    return {
      status: statusCode,
      body: await body.text(),
      headers,
      backend: typeof backend === 'string' ? backend : undefined,
    };
  }

  /** Sends `count` requests, `atOnce` at a time, and counts the answers by backend, or by status when Envoy answered. */
  async tally(count: number, atOnce = 8): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    let left = count;
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const { status, backend } = await this.send();
        const key = status === 200 && backend !== undefined ? backend : `status ${status}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return counts;
  }

  /**
   * Sends requests, four at a time, while `change` is under way and for 100 more after it.
   * @throws when one of them fails
   */
  async underLoad(change: () => Promise<void>): Promise<void> {
    let left = Number.POSITIVE_INFINITY;
    const failures: string[] = [];
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const failure = await this.send().then(
          ({ status, body }) => (status === 200 ? undefined : `${status} ${body}`),
          String,
        );
        if (failure !== undefined) failures.push(failure);
        // paces the load: without it this process, the control plane's too, does little else
        await delay(2);
      }
    };
    const load = Promise.all(Array.from({ length: 4 }, work));
    try {
      await change();
    } finally {
      left = 100;
      await load;
    }
    if (failures.length > 0)
      throw new Error(`${failures.length} requests failed: ${[...new Set(failures)].join(', ')}`);
  }

  /** The group's backends as Envoy holds them, by `address:port`. */
  async held(): Promise<ReadonlyMap<string, Held>> {
    const hosts = (await this.envoy.clusters()).filter((host) => host.cluster === GROUP);
    const healthy = hosts.filter((host) => host.health === 'HEALTHY');
    const sum = healthy.reduce((total, host) => total + host.weight, 0);
    return new Map(
      hosts.map(({ address, weight, health }) => [
        address,
        { weight, health, share: health === 'HEALTHY' ? weight / sum : 0 },
      ]),
    );
  }

  /** Waits until Envoy holds a state of which `holds` is true. */
  until(what: string, holds: (held: ReadonlyMap<string, Held>) => boolean, timeoutMs?: number) {
    return waitFor(
      what,
      async () => {
        const held = await this.held();
        return holds(held) && held;
      },
      timeoutMs,
    );
  }

  /** The value of one series of the control plane's own metrics; undefined: there is no such series. */
  async metric(series: string): Promise<number | undefined> {
    return (await this.metrics(series))[0];
  }

  /** The same of several, all from one page. */
  async metrics(...series: readonly string[]): Promise<readonly (number | undefined)[]> {
    const { body } = await request(`${this.#adminOrigin}/metrics`);
    const lines = (await body.text()).split('\n');
    return series.map((name) => {
      const line = lines.find((one) => one.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(name.length + 1));
    });
  }

  async #end(): Promise<void> {
    await this.#agent.destroy();
    await Promise.all(this.envoys.map((envoy) => envoy.stop()));
    await this.app.stop(AbortSignal.abort());
  }
}

/** Starts a backend on each address, on ports of the kernel's choice. @param cleanups end them */
export async function startBackends(backends: readonly GaugeBackend[], cleanups: Cleanups): Promise<void> {
  cleanups.add(() => Promise.all(backends.map((backend) => backend.stop())));
  await Promise.all(backends.map((backend) => backend.start()));
}

/** The YAML of one server group of these backends with one listener, as an operator would write it. */
export function yamlOf(options: VoyageOptions, ports = { xds: 0, admin: 0, listener: 10000 }): string {
  const {
    backends,
    weights = [],
    group = '',
    listener = '',
    scheduler = '',
    loadAware = true,
    interval = 1,
  } = options;
  const { discovery } = options;
  const servers = backends.map(
    ({ address, port }, i) => `- {Address: '${address}', Port: ${port}, Weight: ${weights[i] ?? 100}}`,
  );
  return `Xds: {Listen: 127.0.0.1:${ports.xds}, DrainSeconds: 0.1}
Admin: {Listen: 127.0.0.1:${ports.admin}}
ServerGroups:
  - Name: ${GROUP}
${loadAware ? '    ServiceExtension: load-aware' : ''}
${indent(group, 4)}
    ${discovery === undefined ? 'Servers' : 'Discovery'}:
${indent(discovery ?? servers.join('\n'), 6)}
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector: {Timeout: 1, Interval: ${interval}, HttpMetricCollect: {Path: /metrics}}
          Scheduler:
            Scorers:
              - {Name: TotalQueuedRequests, Weight: 50}
              - {Name: KVCacheUtilization, Weight: 30}
              - {Name: RunningRequests, Weight: 20}
${indent(scheduler, 12)}
Listeners:
  - {Name: inference, Address: 127.0.0.1, Port: ${ports.listener}, ServerGroup: ${GROUP}${listener && `, ${listener}`}}
`;
}

/** The configuration as parsed, but with a listener on a port of the kernel's choice. */
export function configure(options: VoyageOptions): Configuration {
  const result = parseConfiguration(yamlOf(options), 'voyage.yaml');
  if (result.kind === 'invalid') throw new Error(result.mistakes.map(formatMistake).join('\n'));
  const { configuration } = result;
  return { ...configuration, listeners: configuration.listeners.map((one) => ({ ...one, port: 0 })) };
}

export function bootstrapOf(
  configuration: Configuration,
  xdsPort: number,
  mode: 'ads' | 'eds' = 'ads',
): string {
  const made = makeBootstrap(configuration, {
    mode,
    xds: [`127.0.0.1:${xdsPort}`],
    adminPort: 0,
    json: false,
  });
  if (made.kind === 'refused') throw new Error(made.reason);
  return made.value;
}

function indent(lines: string, by: number): string {
  return lines
    .split('\n')
    .map((line) => ' '.repeat(by) + line)
    .join('\n');
}
