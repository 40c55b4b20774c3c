import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatMistake, parseConfiguration } from '../../src/config/load.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { configurationOf, GROUP } from '../faults/configuration.ts';
import type { BackendHandle, HostHandle, Stage } from '../faults/model.ts';
import { Wire } from '../faults/wire.ts';
import { Cleanups } from '../support/cleanups.ts';
import { freePorts } from '../support/ports.ts';
import { bootstrapOf } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';
import { Fleet } from './fleet.ts';
import { Sidecars } from './sidecars.ts';
import { SoakPlane } from './soak-plane.ts';
import { SteadyRequests, type TimedFailure } from './steady-requests.ts';

export interface SoakSize {
  readonly backends: number;
  readonly sidecars: number;
  /** Requests per second. */
  readonly rate: number;
}

export interface SoakStageOptions {
  readonly size: SoakSize;
  /** Plimsoll's main.js. */
  readonly program: string;
  readonly signal: AbortSignal;
  readonly mayAnswer: (backend: string, sentMs: number) => boolean;
  readonly onFailure: (failure: TimedFailure) => void;
}

/** Hosts of the fleet that have one backend each, for faults that need one. */
const LONE = 2;

/** The fleet, the control plane, two Envoys, one of each mode, with load on them, and simulated sidecars. */
export class SoakStage implements Stage {
  readonly hosts: readonly HostHandle[];
  readonly backends: readonly BackendHandle[];
  readonly fleet: Fleet;
  readonly plane: SoakPlane;
  readonly wires: readonly Wire[];
  readonly envoys: readonly Envoy[];
  readonly sidecars: Sidecars;
  readonly load: SteadyRequests;
  readonly #cleanups: Cleanups;

  static async open(options: SoakStageOptions): Promise<SoakStage> {
    const { size, program, signal } = options;
    const cleanups = new Cleanups();
    try {
      const made = mkdtemp(join(tmpdir(), 'plimsoll-soak-'));
      const folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
      const fleet = await cleanups.own(Fleet.start(size.backends), (started) => started.stop());
      const [xdsPort = 0, adminPort = 0, listenerPort = 0] = await freePorts(3);
      const fixed = { xds: `127.0.0.1:${xdsPort}`, admin: `127.0.0.1:${adminPort}`, listenerPort };
      const settings = { ...fixed, folder, program, places: () => fleet.places, signal };
      const plane = await cleanups.own(SoakPlane.start(settings), (started) => started.stop());
      const open = () => cleanups.own(Wire.open(xdsPort), (wire) => wire.close());
      const wires = [await open(), await open()] as const;
      const configuration = parse(configurationOf(fleet.places, fixed, {}));
      const envoyOf = (wire: Wire, mode: 'ads' | 'eds'): Promise<Envoy> => {
        const bootstrap = bootstrapOf(configuration, wire.port, mode);
        return cleanups.own(Envoy.start({ bootstrap, signal }), (envoy) => envoy.stop());
      };
      const envoys = await Promise.all([envoyOf(wires[0], 'ads'), envoyOf(wires[1], 'eds')]);
      const starting = Sidecars.start(size.sidecars, xdsPort, GROUP);
      const sidecars = await cleanups.own(starting, (started) => started.stop());
      const listeners = await Promise.all(
        envoys.map((envoy) => waitFor('the listener of an Envoy', () => envoy.listener('inference'))),
      );
      await waitFor('every simulated sidecar', async () => (await sidecars.look()).served === size.sidecars);
      const load = new SteadyRequests({
        origins: listeners.map((listener) => `http://${listener}`),
        perSecond: size.rate,
        mayAnswer: options.mayAnswer,
        onFailure: options.onFailure,
      });
      return new SoakStage({ fleet, plane, wires, envoys, sidecars, load }, cleanups);
    } catch (error) {
      await cleanups.run();
      throw error;
    }
  }

  private constructor(
    parts: Pick<SoakStage, 'fleet' | 'plane' | 'wires' | 'envoys' | 'sidecars' | 'load'>,
    cleanups: Cleanups,
  ) {
    this.fleet = parts.fleet;
    this.plane = parts.plane;
    this.wires = parts.wires;
    this.envoys = parts.envoys;
    this.sidecars = parts.sidecars;
    this.load = parts.load;
    this.#cleanups = cleanups;
    this.backends = parts.fleet.places.map(({ address, port }, index) => ({
      id: `${address}:${port}`,
      change: (change) => parts.fleet.tell({ kind: 'change', backend: index, change }),
    }));
    const lone = Array.from({ length: LONE }, (_, index) => hostOf(this, [index]));
    const rest = this.backends.map((_, index) => index).slice(LONE);
    this.hosts = [...lone, hostOf(this, rest)];
  }

  async close(): Promise<void> {
    await this.load.end();
    await this.#cleanups.run();
  }
}

/** Part of the fleet's process, which does as if it were one of its own. */
function hostOf(
  { fleet, backends }: Pick<SoakStage, 'fleet' | 'backends'>,
  indexes: readonly number[],
): HostHandle {
  const by = `host of ${indexes[0]}`;
  const hang = (hung: boolean): void => {
    // a process that is gone is noticed by whoever asks it next
    void fleet.tell({ kind: 'hang', backends: indexes, hung }).catch(() => undefined);
  };
  return {
    backends: backends.filter((_, index) => indexes.includes(index)),
    kill: () => fleet.tell({ kind: 'close', backends: indexes, by, closed: true }),
    restart: async ({ otherPorts = false } = {}) => {
      await fleet.tell({ kind: 'move', backends: indexes, elsewhere: otherPorts });
      await fleet.tell({ kind: 'close', backends: indexes, by, closed: false });
    },
    freeze: () => {
      hang(true);
    },
    thaw: () => {
      hang(false);
    },
  };
}

function parse(yaml: string) {
  const result = parseConfiguration(yaml, 'plimsoll.yaml');
  if (result.kind === 'invalid') throw new Error(result.mistakes.map(formatMistake).join('\n'));
  // of the one whose listener is its own: the kernel's choice
  const listeners = result.configuration.listeners.map((one) => ({ ...one, port: 0 }));
  return { ...result.configuration, listeners };
}
