import { writeFile } from 'node:fs/promises';
import type { ControlPlane } from '../../../src/demo/control-plane.ts';
import type { Arm } from './arm.ts';
import type { BackendState } from './backends.ts';
import { writeEndpoints } from './endpoints-file.ts';
import { plimsollConfig } from './plimsoll-config.ts';

/** Which backends are in the server group, and the files that say so. */
export class Members {
  readonly config: string;
  readonly endpoints: string;
  readonly #arm: Arm;
  readonly #intervalSeconds: number;
  readonly #backends: readonly BackendState[];
  readonly #indexes: Set<number>;

  constructor(options: {
    readonly folder: string;
    readonly arm: Arm;
    readonly intervalSeconds: number;
    readonly backends: readonly BackendState[];
    readonly first: readonly number[];
  }) {
    this.config = `${options.folder}/plimsoll.yaml`;
    this.endpoints = `${options.folder}/endpoints.json`;
    this.#arm = options.arm;
    this.#intervalSeconds = options.intervalSeconds;
    this.#backends = options.backends;
    this.#indexes = new Set(options.first);
  }

  has(backend: number): boolean {
    return this.#indexes.has(backend);
  }

  async write(): Promise<void> {
    const members = this.#backends.filter((_, index) => this.has(index));
    await writeFile(this.config, plimsollConfig(this.#arm, members, this.#intervalSeconds));
    await writeEndpoints(this.endpoints, members);
  }

  /** @param plane which is told; undefined: the sidecars look at the file themselves. */
  async join(backend: number, plane: ControlPlane | undefined): Promise<void> {
    this.#indexes.add(backend);
    await this.write();
    plane?.reload();
  }
}
