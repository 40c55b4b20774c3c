import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArmName, CellResult, CellSpec, Scenario } from './model.ts';

/** A finished cell and the version of the product that it measured. */
export interface StoredCell {
  readonly product: string;
  readonly result: CellResult;
}

interface CellFile extends StoredCell {
  readonly format: typeof FORMAT;
  readonly spec: CellSpec;
}

const FORMAT = 1;

/**
 * Finished cells, one JSON file each: `<folder>/<product>/<scenario>.<arm>.<sidecars>.<seed>.<rate>.<hash>.json`. The
 * hash is over the specification, so that a scenario that changed is another cell.
 */
export class CellStore {
  readonly #folder: string;
  readonly #productOf: (arm: ArmName) => string;
  readonly #others: boolean;
  readonly #warn: (line: string) => void;
  /** By product and name of the file; undefined: there is none that can be read. */
  readonly #known = new Map<string, StoredCell | undefined>();
  #products: readonly string[] | undefined;

  /**
   * @param options.productOf the version that an arm measures now
   * @param options.others where the product's own version has no such cell, takes that of the version which was
   *   measured last
   */
  constructor(options: {
    readonly folder: string;
    readonly productOf: (arm: ArmName) => string;
    readonly others: boolean;
    readonly warn: (line: string) => void;
  }) {
    this.#folder = options.folder;
    this.#productOf = options.productOf;
    this.#others = options.others;
    this.#warn = options.warn;
  }

  get(spec: CellSpec): StoredCell | undefined {
    for (const product of this.#searched(this.#productOf(spec.arm))) {
      const stored = this.#read(product, fileNameOf(spec));
      if (stored !== undefined) return stored;
    }
    return undefined;
  }

  /** Whole or not at all: a run that ends in the middle leaves no half a file. */
  save(spec: CellSpec, result: CellResult): void {
    const product = this.#productOf(spec.arm);
    const folder = join(this.#folder, product);
    mkdirSync(folder, { recursive: true });
    const path = join(folder, fileNameOf(spec));
    const file: CellFile = { format: FORMAT, product, spec, result };
    writeFileSync(`${path}.part`, `${JSON.stringify(file)}\n`);
    renameSync(`${path}.part`, path);
    this.#known.set(join(product, fileNameOf(spec)), { product, result });
  }

  /** Of the product's own version, so that it is played again. */
  forget(spec: CellSpec): void {
    const key = join(this.#productOf(spec.arm), fileNameOf(spec));
    rmSync(join(this.#folder, key), { force: true });
    this.#known.delete(key);
  }

  #searched(own: string): readonly string[] {
    if (!this.#others) return [own];
    this.#products ??= foldersOf(this.#folder);
    return [own, ...this.#products.filter((name) => name !== own)];
  }

  #read(product: string, name: string): StoredCell | undefined {
    const key = join(product, name);
    if (!this.#known.has(key)) this.#known.set(key, this.#parse(join(this.#folder, key), product));
    return this.#known.get(key);
  }

  #parse(path: string, product: string): StoredCell | undefined {
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      const file = JSON.parse(text) as Partial<CellFile>;
      if (file.format === FORMAT && file.result !== undefined) return { product, result: file.result };
    } catch {
      // Said below.
    }
    this.#warn(`${path} is no cell of format ${FORMAT}: it is left out`);
    return undefined;
  }
}

export function fileNameOf({ scenario, arm, sidecars, seed, rateFactor }: CellSpec): string {
  return `${scenario.name}.${arm}.${sidecars}.${seed}.${rateFactor}.${hashOf(scenario)}.json`;
}

const hashes = new WeakMap<Scenario, string>();

/** Without what has no part in the measurement: the title and what else is planned of the scenario. */
function hashOf(scenario: Scenario): string {
  const known = hashes.get(scenario);
  if (known !== undefined) return known;
  const { title: _title, arms: _arms, sidecars: _sidecars, ...measured } = scenario;
  const hash = createHash('sha256')
    .update(JSON.stringify(sorted(measured)))
    .digest('hex')
    .slice(0, 8);
  hashes.set(scenario, hash);
  return hash;
}

/** Equal values give equal text, in whatever order their fields were written. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}

/** Newest first. */
function foldersOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => ({ name, time: statSync(join(folder, name)).mtimeMs }))
      .toSorted((one, other) => other.time - one.time)
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
