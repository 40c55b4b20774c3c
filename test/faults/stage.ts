import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeBootstrap } from '../../src/commands/bootstrap.ts';
import { formatMistake, parseConfiguration } from '../../src/config/load.ts';
import { DEFAULT_ENGINE, type EngineSettings } from '../../src/demo/engine.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { nextSubnet } from '../bench/routing/backends.ts';
import { Cleanups } from '../support/cleanups.ts';
import { freePorts } from '../support/ports.ts';
import { waitFor } from '../support/wait-for.ts';
import { Host } from './hosts.ts';
import { Laboratory } from './laboratory.ts';
import { Load } from './load.ts';
import type { BackendHandle, Stage } from './model.ts';
import { Observer } from './observer.ts';
import { Plane } from './plane.ts';
import { Wire } from './wire.ts';

/** Backends in each process: two alone, that can be killed and frozen, and the rest of the fleet. */
const HOSTS: readonly number[] = [1, 1, 8];
/** Requests stay some 3 s, so that weights follow the load at an interval of 1 s. */
const ENGINE: EngineSettings = {
  ...DEFAULT_ENGINE,
  slots: 16,
  kvTokens: 4096,
  stepMs: 55,
};
/** Requests per second: about half of what the fleet can do. */
const RATE = 30;

/** Backends, the control plane, two sidecars, one of each mode, and load on them. */
export class FaultStage implements Stage {
  readonly hosts: readonly Host[];
  readonly backends: readonly BackendHandle[];
  readonly plane: Plane;
  readonly wires: readonly Wire[];
  readonly envoys: readonly Envoy[];
  readonly load: Load;
  readonly lab: Laboratory;
  readonly observer: Observer;
  readonly #cleanups: Cleanups;

  /**
   * @param program Plimsoll's main.js
   * @param signal gives up
   */
  static async open(program: string, signal: AbortSignal): Promise<FaultStage> {
    const cleanups = new Cleanups();
    try {
      const made = mkdtemp(join(tmpdir(), 'plimsoll-faults-'));
      const folder = await cleanups.own(made, (path) => rm(path, { recursive: true, force: true }));
      const subnet = nextSubnet();
      const hosts = await Promise.all(
        HOSTS.map((count, index) => {
          const first = HOSTS.slice(0, index).reduce((sum, of) => sum + of, 1);
          const addresses = Array.from({ length: count }, (_, offset) => `${subnet}.${first + offset}`);
          return cleanups.own(Host.start(addresses, ENGINE), (host) => host.stop());
        }),
      );
      const places = () => hosts.flatMap((host) => host.places);
      const [xdsPort, adminPort, listenerPort] = (await freePorts(3)) as [number, number, number];
      const fixed = { xds: `127.0.0.1:${xdsPort}`, admin: `127.0.0.1:${adminPort}`, listenerPort };
      const options = { ...fixed, tls: folder, folder, program, places, signal };
      const laboratory = await Laboratory.open(options);
      const plane = await cleanups.own(Plane.start(options), (started) => started.stop());
      const open = () => cleanups.own(Wire.open(xdsPort), (wire) => wire.close());
      const wires = [await open(), await open()] as const;
      const authorityFile = laboratory.authorityFile;
      const bootstraps = (['ads', 'eds'] as const).map((mode, index) =>
        bootstrapOf({ yaml: plane.yaml(), authorityFile, port: wires[index]?.port ?? 0, mode }),
      );
      const envoys = await Promise.all(
        bootstraps.map((bootstrap) =>
          cleanups.own(Envoy.start({ bootstrap, signal }), (envoy) => envoy.stop()),
        ),
      );
      const listeners = await Promise.all(
        envoys.map((envoy) => waitFor('the listener of a sidecar', () => envoy.listener('inference'))),
      );
      return new FaultStage({ hosts, plane, wires, envoys, lab: laboratory }, listeners, cleanups);
    } catch (error) {
      await cleanups.run();
      throw error;
    }
  }

  private constructor(
    parts: Pick<FaultStage, 'hosts' | 'plane' | 'wires' | 'envoys' | 'lab'>,
    listeners: readonly string[],
    cleanups: Cleanups,
  ) {
    this.hosts = parts.hosts;
    this.plane = parts.plane;
    this.wires = parts.wires;
    this.envoys = parts.envoys;
    this.lab = parts.lab;
    this.backends = parts.hosts.flatMap((host) => host.backends);
    this.#cleanups = cleanups;
    this.load = new Load(
      listeners.map((listener) => `http://${listener}`),
      RATE,
      1,
    );
    this.observer = new Observer({
      plane: parts.plane.admin,
      sidecars: parts.envoys.map((envoy) => envoy.admin),
      group: () => parts.plane.group,
    });
  }

  async close(): Promise<void> {
    await this.load.stop();
    await this.observer.close();
    await this.#cleanups.run();
  }
}

interface Sidecar {
  readonly yaml: string;
  readonly authorityFile: string;
  /** Where it reaches the control plane. */
  readonly port: number;
  readonly mode: 'ads' | 'eds';
}

function bootstrapOf({ yaml, authorityFile, port, mode }: Sidecar): string {
  const result = parseConfiguration(yaml, 'plimsoll.yaml');
  if (result.kind === 'invalid') throw new Error(result.mistakes.map(formatMistake).join('\n'));
  const { configuration } = result;
  // that of the sidecar that gets only endpoints is the kernel's choice
  const listeners = configuration.listeners.map((one) => ({ ...one, port: 0 }));
  const made = makeBootstrap(
    { ...configuration, listeners },
    {
      mode,
      xds: [`127.0.0.1:${port}`],
      ca: authorityFile,
      nodeId: `sidecar-${mode}`,
      adminPort: 0,
      json: false,
    },
  );
  if (made.kind === 'refused') throw new Error(made.reason);
  return made.value;
}
