import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { configurationOf, type ConfigurationChange, type Fixed, GROUP } from './configuration.ts';
import type { Place } from './place.ts';
import type { PlaneHandle } from './model.ts';

const HOOKS = new URL('plane-hooks.mjs', import.meta.url).href;
const LIMIT = `import resource, sys
pid, most = int(sys.argv[1]), int(sys.argv[2])
_, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard if most < 0 else min(most, hard), hard))`;

export interface PlaneOptions extends Fixed {
  /** For its files. */
  readonly folder: string;
  /** Plimsoll's main.js. */
  readonly program: string;
  /** Where the backends are now. */
  readonly places: () => readonly Place[];
  /** More for NODE_OPTIONS, at each start. */
  readonly nodeOptions?: readonly string[];
  /** More of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The control plane as a process that is killed, frozen, told nonsense, and always comes back on the same ports. */
export class Plane implements PlaneHandle {
  readonly file: string;
  readonly xds: string;
  readonly admin: string;
  readonly #options: PlaneOptions;
  #process: ControlPlane | undefined;
  #change: ConfigurationChange = {};

  static async start(options: PlaneOptions): Promise<Plane> {
    const plane = new Plane(options);
    await writeFile(plane.file, plane.yaml());
    await plane.restart();
    return plane;
  }

  private constructor(options: PlaneOptions) {
    this.#options = options;
    this.file = join(options.folder, 'plimsoll.yaml');
    this.xds = options.xds;
    this.admin = options.admin;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get running(): boolean {
    return this.#process?.running === true;
  }

  get log(): readonly string[] {
    return this.#process?.log ?? [];
  }

  /** Of the server group, as configured now. */
  get group(): string {
    return this.#change.group ?? GROUP;
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async restart(nodeOptions: readonly string[] = []): Promise<void> {
    const { program, signal, env, nodeOptions: always = [] } = this.#options;
    const NODE_OPTIONS = [`--import=${HOOKS}`, ...always, ...nodeOptions].join(' ');
    this.#process = await ControlPlane.start({
      config: this.file,
      program,
      env: { ...env, NODE_OPTIONS, PLIMSOLL_FAULT_SOCKET: this.#socket },
      signal,
    });
  }

  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async configure(change: ConfigurationChange): Promise<void> {
    this.#change = change;
    await writeFile(this.file, this.yaml());
    this.#process?.reload();
  }

  yaml(): string {
    return configurationOf(this.#options.places(), this.#options, this.#change);
  }

  hook(command: 'block' | 'clock', argument: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.#socket);
      socket.on('error', reject).on('close', () => {
        resolve();
      });
      socket.resume().write(`${command} ${argument}\n`);
    });
  }

  async limitFiles(most: number | undefined): Promise<void> {
    await promisify(execFile)('python3', ['-c', LIMIT, String(this.pid), String(most ?? -1)]);
  }

  async stop(): Promise<void> {
    if (this.running) this.thaw();
    await this.kill();
  }

  get #socket(): string {
    return join(this.#options.folder, 'hooks.sock');
  }
}
