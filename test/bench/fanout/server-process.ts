import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface ServerCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** A server under test in a process of its own, led by lines on its standard input. Linux only: it reads /proc. */
export class ServerProcess {
  readonly name: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  #port = 0;

  private constructor({ name, command, args }: ServerCommand) {
    this.name = name;
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  static async start(command: ServerCommand): Promise<ServerProcess> {
    const server = new ServerProcess(command);
    server.#port = await server.#answer('port');
    return server;
  }

  get port(): number {
    return this.#port;
  }

  /** Has the assignments of these pushes built, so that building them is not part of a push. */
  async prepare(first: number, count: number): Promise<void> {
    this.#child.stdin.write(`prepare ${first} ${count}\n`);
    await this.#answer('prepared');
  }

  async push(number: number): Promise<void> {
    this.#child.stdin.write(`push ${number}\n`);
    await this.#answer('pushed');
  }

  /** Processor time used so far, in milliseconds. */
  async cpuMs(): Promise<number> {
    this.#child.stdin.write('cpu\n');
    return (await this.#answer('cpu')) / 1000;
  }

  /** Resident memory in bytes: at the moment, and the most since {@link resetPeak}. */
  memory(): { readonly resident: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return { resident: kibibytes(status, 'VmRSS') * 1024, peak: kibibytes(status, 'VmHWM') * 1024 };
  }

  resetPeak(): void {
    writeFileSync(`/proc/${this.#child.pid}/clear_refs`, '5');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }

  /** The number in the next line, which must begin with `word`; 0 when it has none. */
  async #answer(word: string): Promise<number> {
    const line = await this.#lines.next();
    const [first, number] = line.done === true ? [] : line.value.split(' ');
    if (first !== word) throw new Error(`${this.name}: ${word} expected, not ${first ?? 'the end'}`);
    return Number(number ?? 0);
  }
}

function kibibytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}
