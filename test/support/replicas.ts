import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import type { State } from '../../src/admin/state-shape.ts';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { Cleanups } from './cleanups.ts';
import { EdsFile } from './eds-file.ts';
import { freePort } from './ports.ts';
import { waitFor } from './wait-for.ts';

/** Of the sidecars' bootstrap. */
const XDS_CLUSTER = 'plimsoll_xds';

/** One of several equal control planes: a process of its own, on ports that it keeps over restarts. */
export class Replica {
  plane: ControlPlane;
  /** Its configuration, but for `Xds`, `Admin` and `Log`. */
  readonly yaml: string;
  readonly #file: string;
  readonly #program: string;

  /** @param yaml but for `Xds`, `Admin` and `Log` */
  static async start(
    folder: string,
    name: string,
    yaml: string,
    options: { readonly program: string; readonly drainSeconds: number },
  ): Promise<Replica> {
    const { program, drainSeconds } = options;
    const file = join(folder, `${name}.yaml`);
    const [xds, admin] = [await freePort(), await freePort()];
    const addresses = `Xds: {Listen: 127.0.0.1:${xds}, DrainSeconds: ${drainSeconds}}\nAdmin: {Listen: 127.0.0.1:${admin}}\n`;
    await writeFile(file, `${addresses}Log: {Format: json}\n${yaml}`);
    return new Replica(await ControlPlane.start({ config: file, program }), yaml, file, program);
  }

  private constructor(plane: ControlPlane, yaml: string, file: string, program: string) {
    this.plane = plane;
    this.yaml = yaml;
    this.#file = file;
    this.#program = program;
  }

  /** Again, where it was; it must have ended. */
  async restart(): Promise<void> {
    this.plane = await ControlPlane.start({ config: this.#file, program: this.#program });
  }

  async state(): Promise<State> {
    const { body } = await request(`http://${this.plane.admin}/state`);
    return (await body.json()) as State;
  }

  /** Nodes of the sidecars that its page shows, in order. */
  async nodes(): Promise<readonly string[]> {
    const { sidecars } = await this.state();
    return sidecars.shown.map(({ node }) => node).toSorted();
  }

  /** Status of `/readyz`. */
  async readiness(): Promise<number> {
    const { statusCode, body } = await request(`http://${this.plane.admin}/readyz`);
    await body.dump();
    return statusCode;
  }

  /** Evaluations without a fresh sample of a backend. */
  async missed(backend: string): Promise<number> {
    const page = await this.plane.metrics();
    const series = `plimsoll_backend_missed_evaluations{server_group="llama",backend="${backend}"} `;
    return Number(
      page
        .split('\n')
        .find((line) => line.startsWith(series))
        ?.slice(series.length),
    );
  }

  /** Assignments published so far. */
  async pushes(): Promise<number> {
    const page = await this.plane.metrics();
    return Array.from(page.matchAll(/^plimsoll_server_group_pushes_total\{.*\} (\d+)$/gm)).reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }
}

/** The parts of a bootstrap that are changed here. */
interface Bootstrap {
  readonly static_resources: {
    readonly listeners?: readonly { readonly address: { readonly socket_address: object } }[];
    readonly clusters: readonly { readonly name: string }[];
  };
}

/** A real Envoy with our bootstrap, whose addresses of the control plane change as those of a name in DNS do. */
export class ReplicaSidecar {
  readonly node: string;
  readonly envoy: Envoy;
  readonly origin: string;
  readonly #known: EdsFile;
  readonly #cleanups: Cleanups;

  /**
   * @param yaml the configuration of a replica, with or without `Xds` and `Admin`
   * @param settings of the bootstrap; `keepalive`: in place of the bootstrap's own
   */
  static async start(
    node: string,
    yaml: string,
    replicas: readonly Replica[],
    settings: { readonly mode: 'ads' | 'eds'; readonly keepalive?: object },
  ): Promise<ReplicaSidecar> {
    const cleanups = new Cleanups();
    try {
      const known = await cleanups.own(EdsFile.create(), (file) => file.remove());
      await publish(known, replicas);
      const bootstrap = JSON.stringify(bootstrapOf(node, yaml, known, settings));
      const envoy = await cleanups.own(Envoy.start({ bootstrap }), (started) => started.stop());
      const listener = await waitFor('the listener', () => envoy.listener('inference'));
      return new ReplicaSidecar({ node, envoy, origin: `http://${listener}`, known, cleanups });
    } catch (error) {
      await cleanups.run();
      throw error;
    }
  }

  private constructor(
    parts: Pick<ReplicaSidecar, 'node' | 'envoy' | 'origin'> & {
      readonly known: EdsFile;
      readonly cleanups: Cleanups;
    },
  ) {
    this.node = parts.node;
    this.envoy = parts.envoy;
    this.origin = parts.origin;
    this.#known = parts.known;
    this.#cleanups = parts.cleanups;
  }

  /** What a look-up of the control plane's name gives from now on. */
  knows(replicas: readonly Replica[]): Promise<void> {
    return publish(this.#known, replicas);
  }

  /** Shares of the group's healthy backends as it holds them, by address. */
  async shares(): Promise<ReadonlyMap<string, number>> {
    const hosts = (await this.envoy.clusters()).filter(({ cluster }) => cluster === 'llama');
    const healthy = hosts.filter(({ health }) => health === 'HEALTHY');
    const sum = healthy.reduce((total, { weight }) => total + weight, 0);
    return new Map(healthy.map(({ address, weight }) => [address, weight / sum]));
  }

  async stop(): Promise<void> {
    await this.#cleanups.run();
  }
}

/** A folder for the replicas' files. */
export function replicasFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  return mkdtemp(join(tmpdir(), 'plimsoll-replicas-')).then((path) => ({
    path,
    remove: () => rm(path, { recursive: true, force: true }),
  }));
}

async function publish(file: EdsFile, replicas: readonly Replica[]): Promise<void> {
  const endpoints = replicas.map(({ plane }) => ({
    address: '127.0.0.1',
    port: Number(plane.xds.slice(plane.xds.lastIndexOf(':') + 1)),
    weight: 1,
    health: 'HEALTHY' as const,
  }));
  await file.publish({ serverGroup: XDS_CLUSTER, endpoints, dropShare: 0 });
}

function bootstrapOf(
  node: string,
  yaml: string,
  known: EdsFile,
  { mode, keepalive }: { readonly mode: 'ads' | 'eds'; readonly keepalive?: object },
): object {
  const read = parseConfiguration(yaml, 'replica.yaml');
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.mistakes));
  const made = makeBootstrap(read.configuration, {
    mode,
    xds: ['127.0.0.1:1'],
    nodeId: node,
    adminPort: 0,
    json: true,
  });
  if (made.kind === 'refused') throw new Error(made.reason);
  const bootstrap = JSON.parse(made.value) as Bootstrap;
  const { listeners, clusters } = bootstrap.static_resources;
  return {
    ...bootstrap,
    static_resources: {
      ...(listeners && {
        listeners: listeners.map((listener) => ({
          ...listener,
          address: { socket_address: { ...listener.address.socket_address, port_value: 0 } },
        })),
      }),
      clusters: clusters.map((cluster) =>
        cluster.name === XDS_CLUSTER ? withFile(cluster, known, keepalive) : cluster,
      ),
    },
  };
}

function withFile(cluster: object, known: EdsFile, keepalive: object | undefined): object {
  return {
    ...cluster,
    type: 'EDS',
    load_assignment: undefined,
    eds_cluster_config: { eds_config: known.source },
    ...(keepalive && {
      typed_extension_protocol_options: {
        'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
          '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
          explicit_http_config: { http2_protocol_options: { connection_keepalive: keepalive } },
        },
      },
    }),
  };
}
