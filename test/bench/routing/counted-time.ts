import { ControlPlaneWatch } from './control-plane-figures.ts';
import type { Fleet } from './fleet.ts';
import type { ControlPlaneFigures } from './model.ts';
import { MachineLoad, processorSeconds } from './processor-time.ts';
import type { Stage } from './stage.ts';

/** Looks, one a second, that the use of the machine is averaged over: another cell that starts is no disturbance. */
const MACHINE_WINDOW = 15;

/** What is measured over the counted time besides the requests themselves. */
export interface CountedFigures {
  readonly insideCv: number;
  readonly published: readonly number[] | undefined;
  /** The most that was used in {@link MACHINE_WINDOW} seconds, 0..1. */
  readonly machineCpu: number;
  readonly cpuSeconds: CpuSeconds;
  readonly controlPlane: ControlPlaneFigures | null;
}

interface CpuSeconds {
  readonly envoys: number;
  readonly backends: number;
  readonly generator: number;
}

/** The counted time of a cell: it begins when this is made. */
export class CountedTime {
  readonly #stage: Stage;
  readonly #fleet: Fleet;
  readonly #watch: ControlPlaneWatch | undefined;
  readonly #machine = new MachineLoad(MACHINE_WINDOW);
  readonly #before: CpuSeconds;
  readonly #spreads: number[] = [];

  constructor(stage: Stage, fleet: Fleet) {
    this.#stage = stage;
    this.#fleet = fleet;
    this.#watch = stage.plane === undefined ? undefined : new ControlPlaneWatch(stage.plane);
    this.#before = this.#cpu();
  }

  /** Called at the beginning and then each second. */
  async look(): Promise<void> {
    this.#machine.look();
    const [spread] = await Promise.all([this.#fleet.spread(), this.#watch?.look()]);
    if (spread !== undefined) this.#spreads.push(spread);
  }

  async end(): Promise<CountedFigures> {
    const after = this.#cpu();
    this.#machine.look();
    return {
      insideCv: this.#spreads.reduce((sum, spread) => sum + spread, 0) / Math.max(1, this.#spreads.length),
      controlPlane: (await this.#watch?.figures()) ?? null,
      published: this.#watch?.published(this.#stage.backends.all.map(({ id }) => id)),
      machineCpu: this.#machine.most(),
      cpuSeconds: {
        envoys: after.envoys - this.#before.envoys,
        backends: after.backends - this.#before.backends,
        generator: after.generator - this.#before.generator,
      },
    };
  }

  #cpu(): CpuSeconds {
    const { sidecars, backends, generator } = this.#stage;
    return {
      envoys: processorSeconds(sidecars.pids),
      backends: processorSeconds([backends.pid]),
      generator: processorSeconds([generator.pid]),
    };
  }
}
