import { type ChildProcess, spawn } from 'node:child_process';
import { endChild, keepFromOutliving } from '../../src/demo/children.ts';

/** Characters of the end of a log that an error shows. */
const LOG_END = 3000;

/** A server that a test runs, with all that it wrote. */
export class Program {
  readonly #name: string;
  readonly #child: ChildProcess;
  #log = '';

  constructor(
    path: string,
    args: readonly string[],
    how: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ) {
    this.#name = path.split('/').at(-1) ?? path;
    this.#child = spawn(path, args, {
      cwd: how.cwd,
      env: { ...process.env, ...how.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    keepFromOutliving(this.#child);
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => (this.#log += chunk));
    }
  }

  get log(): string {
    return this.#log;
  }

  /** The same as `work`, but with the end of the log in its error, and without waiting for a program that has ended. */
  async during<T>(work: Promise<T>): Promise<T> {
    const ended = new Promise<never>((_, reject) => {
      this.#child.once('exit', (code, signal) => {
        reject(new Error(`it ended with ${code ?? signal}`));
      });
    });
    try {
      return await Promise.race([work, ended]);
    } catch (error) {
      throw new Error(`${this.#name}: its log ends\n${this.#log.slice(-LOG_END)}`, { cause: error });
    }
  }

  async stop(): Promise<void> {
    await endChild(this.#child, 10_000);
  }
}
