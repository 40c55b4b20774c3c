import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane } from '../../../src/demo/control-plane.ts';
import { armOf } from './arm.ts';
import { Backends, nextSubnet } from './backends.ts';
import { Generator } from './generator.ts';
import { Members } from './members.ts';
import type { CellSpec } from './model.ts';
import { Sidecars } from './sidecars.ts';
import { STAYS } from './stays.ts';
import { membersAtStart, slownessOf } from './trace.ts';

/** Everything that a cell is played on, in processes of its own: as many cells as the machine bears go side by side. */
export class Stage {
  readonly backends: Backends;
  readonly members: Members;
  /** undefined: the arm has none. */
  readonly plane: ControlPlane | undefined;
  readonly sidecars: Sidecars;
  readonly generator: Generator;
  readonly #undo: readonly (() => Promise<unknown>)[];

  /**
   * @param program Plimsoll's main.js
   * @throws when a part cannot be started, and the signal's reason when it aborts; nothing is left behind then.
   */
  static async open(spec: CellSpec, program: string, signal: AbortSignal): Promise<Stage> {
    const undo: (() => Promise<unknown>)[] = [];
    try {
      return await openParts(spec, program, signal, undo);
    } catch (error) {
      await unwind(undo);
      throw error;
    }
  }

  constructor(
    parts: Pick<Stage, 'backends' | 'members' | 'plane' | 'sidecars' | 'generator'>,
    undo: readonly (() => Promise<unknown>)[],
  ) {
    this.backends = parts.backends;
    this.members = parts.members;
    this.plane = parts.plane;
    this.sidecars = parts.sidecars;
    this.generator = parts.generator;
    this.#undo = undo;
  }

  close(): Promise<void> {
    return unwind(this.#undo);
  }
}

async function openParts(
  spec: CellSpec,
  program: string,
  signal: AbortSignal,
  undo: (() => Promise<unknown>)[],
): Promise<Stage> {
  const { scenario, sidecars: count } = spec;
  const arm = armOf(spec.arm);
  const folder = await mkdtemp(join(tmpdir(), 'plimsoll-routing-'));
  undo.unshift(() => rm(folder, { recursive: true, force: true }));
  const backends = await Backends.start({
    subnet: nextSubnet(),
    engine: STAYS[scenario.stay].engine,
    slowness: Array.from({ length: scenario.backends }, (_, index) => slownessOf(scenario, index)),
    loadReports: spec.arm === 'orca',
    reportAgeMs: (scenario.gaugeLagSeconds ?? 0) * 1000,
    failedFetchShare: scenario.failedScrapeShare ?? 0,
    seed: spec.seed,
  });
  undo.unshift(() => backends.stop());
  signal.throwIfAborted();
  const members = new Members({
    folder,
    arm,
    intervalSeconds: scenario.intervalSeconds ?? 1,
    backends: backends.all,
    first: membersAtStart(scenario),
  });
  await members.write();
  const { config, endpoints } = members;
  const plane = arm.kind === 'plimsoll' ? await ControlPlane.start({ config, program, signal }) : undefined;
  if (plane !== undefined) undo.unshift(() => plane.stop());
  const sidecars = await Sidecars.start({ arm, count, config, xds: plane?.xds, endpoints, signal });
  undo.unshift(() => sidecars.stop());
  const generator = new Generator();
  undo.unshift(() => generator.stop());
  return new Stage({ backends, members, plane, sidecars, generator }, undo);
}

async function unwind(undo: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const step of undo) await step();
}
