import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import type { ConfigurationChange } from '../faults/configuration.ts';
import type { PlaneHandle } from '../faults/model.ts';
import { Plane, type PlaneOptions } from '../faults/plane.ts';
import { imageEnvironment, imageNodeOptions } from '../support/image.ts';
import { PlanePage } from './plane-page.ts';

const HOOK = new URL('memory-hook.mjs', import.meta.url).href;
/** Of memory, as Linux counts it on x86-64 and arm64 with its usual kernels. */
const PAGE_BYTES = 4_096;
const PAGE_MS = 2_000;
const COLLECT_MS = 5_000;

/** Bytes. */
export interface HeapLook {
  readonly heap: number;
  /** Of it bytecode and machine code with what belongs to them. */
  readonly code: number;
}

/**
 * The control plane of the soak: the one of the fault table, with what the image gives Node, and with a second hand on its configuration. What faults ask for
 * and which servers come and go beside them are put together.
 */
export class SoakPlane implements PlaneHandle {
  readonly #plane: Plane;
  readonly #socket: string;
  #change: ConfigurationChange = {};
  #without: readonly number[] = [];
  #generation = 1;

  static async start(options: PlaneOptions): Promise<SoakPlane> {
    const socket = join(options.folder, 'soak.sock');
    const env = { ...imageEnvironment(), PLIMSOLL_SOAK_SOCKET: socket };
    const nodeOptions = [`--import=${HOOK}`, ...imageNodeOptions()];
    return new SoakPlane(await Plane.start({ ...options, nodeOptions, env }), socket);
  }

  private constructor(plane: Plane, socket: string) {
    this.#plane = plane;
    this.#socket = socket;
  }

  get pid(): number {
    return this.#plane.pid;
  }

  get xds(): string {
    return this.#plane.xds;
  }

  get admin(): string {
    return this.#plane.admin;
  }

  get log(): readonly string[] {
    return this.#plane.log;
  }

  get file(): string {
    return this.#plane.file;
  }

  get running(): boolean {
    return this.#plane.running;
  }

  get group(): string {
    return this.#plane.group;
  }

  /** Counts the processes that it has been, from 1. */
  get generation(): number {
    return this.#generation;
  }

  kill(): Promise<void> {
    return this.#plane.kill();
  }

  restart(nodeOptions: readonly string[] = []): Promise<void> {
    this.#generation++;
    return this.#plane.restart(nodeOptions);
  }

  freeze(): void {
    this.#plane.freeze();
  }

  thaw(): void {
    this.#plane.thaw();
  }

  configure(change: ConfigurationChange): Promise<void> {
    this.#change = change;
    return this.#configure();
  }

  /** These backends are no servers, beside those that a fault takes out. */
  leaveOut(without: readonly number[]): Promise<void> {
    this.#without = without;
    return this.#configure();
  }

  yaml(): string {
    return this.#plane.yaml();
  }

  hook(command: 'block' | 'clock', argument: number): Promise<void> {
    return this.#plane.hook(command, argument);
  }

  limitFiles(most: number | undefined): Promise<void> {
    return this.#plane.limitFiles(most);
  }

  stop(): Promise<void> {
    return this.#plane.stop();
  }

  /** Its resident memory now, in bytes, from Linux itself, without a word to the process; undefined: it does not run. */
  residentBytes(): number | undefined {
    try {
      const [, pages] = readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ');
      return Number(pages) * PAGE_BYTES;
    } catch {
      return undefined;
    }
  }

  /** Its metrics page; undefined: it does not answer within 2 s. */
  async page(): Promise<PlanePage | undefined> {
    try {
      const signal = AbortSignal.timeout(PAGE_MS);
      const { statusCode, body } = await request(`http://${this.admin}/metrics`, { signal });
      const text = await body.text();
      return statusCode === 200 ? new PlanePage(text) : undefined;
    } catch {
      return undefined;
    }
  }

  /** What is on its heap after all garbage was collected; undefined: it does not answer within 5 s. */
  heapAfterCollection(): Promise<HeapLook | undefined> {
    return new Promise((resolve) => {
      const socket = connect(this.#socket);
      let text = '';
      socket.setTimeout(COLLECT_MS, () => socket.destroy());
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        text += chunk.toString();
      });
      socket.on('close', () => {
        resolve(text === '' ? undefined : (JSON.parse(text) as HeapLook));
      });
    });
  }

  #configure(): Promise<void> {
    const without = [...new Set([...this.#without, ...(this.#change.without ?? [])])];
    return this.#plane.configure({ ...this.#change, without });
  }
}
