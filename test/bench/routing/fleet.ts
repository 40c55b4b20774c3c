import type { Happening, Scenario } from './model.ts';
import type { Stage } from './stage.ts';
import { slownessOf } from './trace.ts';

/** A backend that joins has caches to fill: it is this much slower for so long. */
const COLD = { slowness: 2, seconds: 20 } as const;

/** The fleet as it is at the moment, and what happens to it. */
export class Fleet {
  readonly #scenario: Scenario;
  readonly #stage: Pick<Stage, 'backends' | 'members' | 'plane'>;
  readonly #slowness: number[];

  constructor(scenario: Scenario, stage: Pick<Stage, 'backends' | 'members' | 'plane'>) {
    this.#scenario = scenario;
    this.#stage = stage;
    this.#slowness = stage.backends.all.map((_, index) => slownessOf(scenario, index));
  }

  /**
   * Lets everything happen at its time.
   * @param until resolves that many seconds after the end of the warm-up
   */
  async play(until: (seconds: number) => Promise<void>, endSeconds: number): Promise<void> {
    const happenings = (this.#scenario.happenings ?? []).flatMap((happening) => this.#parts(happening));
    happenings.sort((one, other) => one.atSeconds - other.atSeconds);
    for (const happening of happenings.filter(({ atSeconds }) => atSeconds < endSeconds)) {
      await until(happening.atSeconds);
      await this.#happen(happening);
    }
  }

  /**
   * How unequally the requests inside are spread over the members, by what each can do: the coefficient of variation;
   * undefined: there are none.
   */
  async spread(): Promise<number | undefined> {
    const inside = await this.#stage.backends.inside();
    const loads = inside
      .map((requests, index) => requests * this.#slowness[index]!)
      .filter((_, index) => this.#stage.members.has(index));
    const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length;
    if (mean === 0) return undefined;
    const variance = loads.reduce((sum, load) => sum + (load - mean) ** 2, 0) / loads.length;
    return Math.sqrt(variance) / mean;
  }

  #parts(happening: Happening): readonly Happening[] {
    const { atSeconds, backend, change } = happening;
    if (change.kind !== 'join') return [happening];
    const factor = slownessOf(this.#scenario, backend);
    const slow = { kind: 'slowness', factor: factor * COLD.slowness } as const;
    const warm = { kind: 'slowness', factor } as const;
    return [
      { atSeconds, backend, change: slow },
      happening,
      { atSeconds: atSeconds + COLD.seconds, backend, change: warm },
    ];
  }

  async #happen({ backend, change }: Happening): Promise<void> {
    const { backends, members, plane } = this.#stage;
    if (change.kind === 'join') {
      await members.join(backend, plane);
      return;
    }
    if (change.kind === 'slowness') this.#slowness[backend] = change.factor;
    await backends.change(backend, change);
  }
}
