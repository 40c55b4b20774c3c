import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A process that answers each line on its standard input by one line. Linux only: its memory is read from /proc. */
export class Child {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[]) {
    this.#process = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process.on('error', () => undefined);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** @throws Error when the process has ended */
  ask(line: string): Promise<string> {
    this.#process.stdin.write(`${line}\n`);
    return this.answer();
  }

  /** The next line that it says. */
  async answer(): Promise<string> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`${this.#process.spawnargs.join(' ')} has ended`);
    return line.value;
  }

  /** Resident memory, bytes. */
  get residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await exited;
  }
}
