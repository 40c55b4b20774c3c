import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { sleep, systemClock } from '../runtime/clock.ts';
import { messageOf, PlimsollError } from '../runtime/errors.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { endChild, keepFromOutliving, tooSlow } from './children.ts';
import { findEnvoy } from './envoy-binary.ts';

export interface EnvoyOptions {
  /**
   * A bootstrap as JSON or YAML text. It must have an admin address; port 0 is the kernel's choice, there and in
   * listeners.
   */
  readonly bootstrap: string;
  /** Worker threads, default 1. */
  readonly concurrency?: number;
  readonly logLevel?: 'debug' | 'info' | 'warning' | 'error';
  /** Seconds until it must be ready, default 20. */
  readonly readySeconds?: number;
  /** Default: {@link findEnvoy}. */
  readonly binary?: string;
  /** Gives up the start; afterwards it has no effect. */
  readonly signal?: AbortSignal;
}

/** A host of a cluster as Envoy holds it. */
export interface EnvoyHost {
  readonly cluster: string;
  /** `10.0.3.11:8000`, an IPv6 address in brackets. */
  readonly address: string;
  readonly weight: number;
  /** `HEALTHY`, `UNHEALTHY`, `DRAINING`, … as the control plane said. */
  readonly health: string;
}

/** A running Envoy. `stop` it; whatever happens, it does not outlive this process. */
export class Envoy {
  /** `HOST:PORT` of the admin interface. */
  readonly admin: string;
  readonly #child: ChildProcess;
  readonly #folder: string;

  /**
   * Starts Envoy and waits until it says that it is ready.
   * @throws PlimsollError `io` when it ends before or is not ready in time; the message has the end of its log, and
   * the log is kept, where it ran. What the signal aborts throws its reason and leaves nothing.
   */
  static async start(options: EnvoyOptions): Promise<Envoy> {
    const binary = options.binary ?? findEnvoy();
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-envoy-'));
    const extension = options.bootstrap.trimStart().startsWith('{') ? 'json' : 'yaml';
    const config = join(folder, `bootstrap.${extension}`);
    let child: ChildProcess | undefined;
    try {
      await writeFile(config, options.bootstrap);
      child = launch(binary, config, folder, options);
      const admin = await waitUntilReady(child, folder, options);
      return new Envoy(admin, child, folder);
    } catch (error) {
      if (child !== undefined) await endChild(child, 0);
      const hasRun = child?.pid !== undefined;
      const isAborted = options.signal?.aborted === true;
      if (isAborted || !hasRun) await rm(folder, { recursive: true, force: true });
      if (isAborted) throw error;
      const log = hasRun ? `; its log, ${logOf(folder)}, ends\n${await endOfLog(folder)}` : '';
      throw new PlimsollError('io', `${binary}: ${messageOf(error)}${log}`, { cause: error });
    }
  }

  private constructor(admin: string, child: ChildProcess, folder: string) {
    this.admin = admin;
    this.#child = child;
    this.#folder = folder;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get logFile(): string {
    return logOf(this.#folder);
  }

  /** The address that listener `name` is bound to as `HOST:PORT`; undefined: there is no such listener (yet). */
  async listener(name: string): Promise<string | undefined> {
    const answer = (await this.#json('/listeners?format=json')) as ListenersAnswer;
    const found = answer.listener_statuses?.find((status) => status.name === name);
    return found?.local_address === undefined ? undefined : hostPort(found.local_address.socket_address);
  }

  /** Every host of the clusters whose hosts have a weight, with weight and health as Envoy holds them. */
  async clusters(): Promise<readonly EnvoyHost[]> {
    const answer = (await this.#json('/clusters?format=json')) as ClustersAnswer;
    return (answer.cluster_statuses ?? []).flatMap((cluster) =>
      (cluster.host_statuses ?? []).map((host) => ({
        cluster: cluster.name,
        address: hostPort(host.address.socket_address),
        weight: host.weight ?? 1,
        health: host.health_status?.eds_health_status ?? 'UNKNOWN',
      })),
    );
  }

  /** Counters and gauges whose name matches, by name. */
  async stats(filter: RegExp): Promise<ReadonlyMap<string, number>> {
    const text = await this.get(`/stats?filter=${encodeURIComponent(filter.source)}`);
    const lines = text.split('\n').map((line) => /^(.+): (\d+)$/.exec(line));
    return new Map(lines.flatMap((match) => (match === null ? [] : [[match[1] ?? '', Number(match[2])]])));
  }

  /**
   * The body of an admin page.
   * @throws PlimsollError `io` when it cannot be had.
   */
  get(path: string): Promise<string> {
    return getAdmin(this.admin, path);
  }

  async stop(): Promise<void> {
    await endChild(this.#child, 5000);
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Ends it and keeps its folder with log and bootstrap, for someone to read. */
  async stopAndKeepLog(): Promise<string> {
    await endChild(this.#child, 5000);
    return this.logFile;
  }

  async #json(path: string): Promise<unknown> {
    return JSON.parse(await this.get(path));
  }
}

interface SocketAddress {
  readonly address: string;
  readonly port_value?: number;
}

interface ListenersAnswer {
  readonly listener_statuses?: readonly {
    readonly name: string;
    readonly local_address?: { readonly socket_address: SocketAddress };
  }[];
}

interface ClustersAnswer {
  readonly cluster_statuses?: readonly {
    readonly name: string;
    readonly host_statuses?: readonly {
      readonly address: { readonly socket_address: SocketAddress };
      readonly weight?: number;
      readonly health_status?: { readonly eds_health_status?: string };
    }[];
  }[];
}

function hostPort({ address, port_value: port = 0 }: SocketAddress): string {
  return formatHostPort(address, port);
}

function logOf(folder: string): string {
  return join(folder, 'envoy.log');
}

async function endOfLog(folder: string): Promise<string> {
  const log = await readFile(logOf(folder), 'utf8').catch(() => '');
  return log.trimEnd().split('\n').slice(-5).join('\n');
}

function adminAddressOf(folder: string): string {
  return join(folder, 'admin-address');
}

function launch(binary: string, config: string, folder: string, options: EnvoyOptions): ChildProcess {
  const log = openSync(logOf(folder), 'a');
  const args = ['-c', config, '--use-dynamic-base-id', '--concurrency', String(options.concurrency ?? 1)];
  args.push('--admin-address-path', adminAddressOf(folder), '--log-level', options.logLevel ?? 'warning');
  // A process group of its own: Ctrl-C in the terminal reaches us alone, and we end it in order.
  const child = spawn(binary, args, { stdio: ['ignore', log, log], detached: true });
  closeSync(log);
  keepFromOutliving(child);
  return child;
}

async function waitUntilReady(
  child: ChildProcess,
  folder: string,
  { readySeconds = 20, signal }: Pick<EnvoyOptions, 'readySeconds' | 'signal'>,
): Promise<string> {
  const failure: { error?: Error } = {};
  child.once('error', (error) => {
    failure.error = error;
  });
  const deadline = systemClock.now() + readySeconds * 1000;
  while (systemClock.now() < deadline) {
    signal?.throwIfAborted();
    if (failure.error !== undefined) throw failure.error;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new PlimsollError('io', `ended with ${child.exitCode ?? child.signalCode} before it was ready`);
    }
    const admin = await readFile(adminAddressOf(folder), 'utf8').catch(() => '');
    if (admin !== '') {
      const state = await getAdmin(admin, '/ready').catch(() => '');
      if (state.trim() === 'LIVE') return admin;
    }
    await sleep(systemClock, 20, signal);
  }
  throw new PlimsollError('io', tooSlow('ready', readySeconds));
}

async function getAdmin(admin: string, path: string): Promise<string> {
  const { statusCode, body } = await request(`http://${admin}${path}`, {
    headersTimeout: 5000,
    bodyTimeout: 5000,
  });
  const text = await body.text();
  if (statusCode === 200) return text;
  throw new PlimsollError('io', `http://${admin}${path}: must answer 200, answered ${statusCode}`);
}
