import { type ChildProcess, spawn } from 'node:child_process';
import { endChild, keepFromOutliving } from '../../src/demo/children.ts';
import { waitFor } from './wait-for.ts';

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

  /** As {@link waitFor}, but no longer than it runs, and with the end of its log in the error. */
  async until<T>(
    what: string,
    probe: () => T | undefined | false | Promise<T | undefined | false>,
    timeoutMs: number,
  ): Promise<T> {
    try {
      const { value } = await waitFor(
        what,
        async () => {
          if (this.#end !== undefined) return { value: undefined };
          const found = await probe();
          return found !== undefined && found !== false && { value: found };
        },
        timeoutMs,
      );
      if (value === undefined) throw new Error(`${what}: it ended with ${this.#end}`);
      return value;
    } catch (error) {
      throw new Error(`${this.#name}: its log ends\n${this.#log.slice(-LOG_END)}`, { cause: error });
    }
  }

  /** @param graceMs until it is killed */
  async stop(graceMs = 10_000): Promise<void> {
    await endChild(this.#child, graceMs);
  }

  /** undefined: it runs. */
  get #end(): number | string | undefined {
    return this.#child.exitCode ?? this.#child.signalCode ?? undefined;
  }
}
