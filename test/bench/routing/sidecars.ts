import { makeBootstrap } from '../../../src/commands/bootstrap.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import { Envoy } from '../../../src/demo/envoy.ts';
import { PlimsollError } from '../../../src/runtime/errors.ts';
import type { Arm, EnvoyArm } from './arm.ts';

const LISTENER = 'inference';
/** Envoys that start at a time. */
const AT_ONCE = 4;

/** Where sidecars get their endpoints from. */
export interface SidecarsOptions {
  readonly arm: Arm;
  readonly count: number;
  /** The configuration file of the cell. */
  readonly config: string;
  /** Plimsoll's `HOST:PORT`, for its arms. */
  readonly xds: string | undefined;
  /** The file of endpoints, for the other arms. */
  readonly endpoints: string;
  readonly signal: AbortSignal;
}

/** The Envoys of a cell: all with the bootstrap that `plimsoll bootstrap --mode eds` prints, but for what balances. */
export class Sidecars {
  /** `http://HOST:PORT` of each. */
  readonly origins: readonly string[];
  readonly #envoys: readonly Envoy[];

  static async start(options: SidecarsOptions): Promise<Sidecars> {
    const envoys: Envoy[] = [];
    try {
      while (envoys.length < options.count) {
        const first = envoys.length;
        const starts = Array.from({ length: Math.min(AT_ONCE, options.count - first) }, (_, index) =>
          startOne(options, first + index),
        );
        const settled = await Promise.allSettled(starts);
        for (const start of settled) if (start.status === 'fulfilled') envoys.push(start.value);
        for (const start of settled) if (start.status === 'rejected') throw start.reason;
      }
      return new Sidecars(envoys, await Promise.all(envoys.map(originOf)));
    } catch (error) {
      await Promise.all(envoys.map((envoy) => envoy.stop()));
      throw error;
    }
  }

  private constructor(envoys: readonly Envoy[], origins: readonly string[]) {
    this.#envoys = envoys;
    this.origins = origins;
  }

  get pids(): readonly number[] {
    return this.#envoys.map(({ pid }) => pid);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#envoys.map((envoy) => envoy.stop()));
  }
}

async function startOne(options: SidecarsOptions, index: number): Promise<Envoy> {
  const bootstrap = await bootstrapOf(options, index);
  return Envoy.start({ bootstrap, logLevel: 'error', signal: options.signal });
}

async function originOf(envoy: Envoy): Promise<string> {
  const address = await envoy.listener(LISTENER);
  if (address === undefined) throw new PlimsollError('io', `a sidecar has no listener ${LISTENER}`);
  return `http://${address}`;
}

/** The parts of a bootstrap that are changed here. */
interface Bootstrap {
  readonly static_resources: {
    readonly listeners: readonly { readonly address: { readonly socket_address: object } }[];
    readonly clusters: readonly {
      readonly eds_cluster_config?: object;
      readonly common_lb_config?: object;
    }[];
  };
}

async function bootstrapOf(options: SidecarsOptions, index: number): Promise<string> {
  const loaded = await loadConfiguration(options.config);
  if (loaded.kind === 'invalid') {
    const reasons = loaded.mistakes.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new PlimsollError('internal', `the configuration of a cell is wrong: ${reasons}`);
  }
  const made = makeBootstrap(loaded.configuration, {
    mode: 'eds',
    xds: [options.xds ?? '127.0.0.1:1'],
    nodeId: `sidecar-${index + 1}`,
    adminPort: 0,
    json: true,
  });
  if (made.kind === 'refused') throw new PlimsollError('internal', made.reason);
  const bootstrap = JSON.parse(made.value) as Bootstrap;
  const { listeners, clusters } = bootstrap.static_resources;
  return JSON.stringify({
    ...bootstrap,
    static_resources: {
      listeners: listeners.map((listener) => ({
        ...listener,
        address: { socket_address: { ...listener.address.socket_address, port_value: 0 } },
      })),
      clusters:
        options.arm.kind === 'plimsoll' ? clusters : clustersWithoutPlimsoll(clusters, options.arm, options),
    },
  });
}

/** The same clusters, with endpoints from a file and Envoy's own balancing. */
function clustersWithoutPlimsoll(
  clusters: Bootstrap['static_resources']['clusters'],
  arm: EnvoyArm,
  { endpoints }: SidecarsOptions,
): readonly object[] {
  const eds = { resource_api_version: 'V3', path_config_source: { path: endpoints } };
  return clusters
    .filter((cluster) => cluster.eds_cluster_config !== undefined)
    .map((cluster) => ({
      ...cluster,
      eds_cluster_config: { ...cluster.eds_cluster_config, eds_config: eds },
      lb_policy: undefined,
      least_request_lb_config: undefined,
      ...balancing(arm, cluster.common_lb_config),
    }));
}

function balancing(arm: EnvoyArm, common: object | undefined): object {
  switch (arm.balancing) {
    case 'round-robin':
      return { lb_policy: 'ROUND_ROBIN' };
    case 'least-request':
      return { lb_policy: 'LEAST_REQUEST' };
    case 'orca':
      return {
        load_balancing_policy: { policies: [{ typed_extension_config: clientSideWeights }] },
        // with a policy as an extension Envoy takes no cluster that says anything of zones; the extension knows none
        common_lb_config: { ...common, zone_aware_lb_config: undefined },
      };
  }
}

/** With its defaults: weights from the load reports of the last seconds, looked at each second. */
const clientSideWeights = {
  name: 'envoy.load_balancing_policies.client_side_weighted_round_robin',
  typed_config: {
    '@type':
      'type.googleapis.com/envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin',
  },
};
