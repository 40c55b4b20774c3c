import { type ChildProcess, spawn } from 'node:child_process';
import { endChild, keepFromOutliving } from '../../src/demo/children.ts';

/** A Node program as a process of its own. */
export class Program {
  /** File and arguments. */
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  /** What it has written so far. */
  output = '';

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  /** undefined: it runs, or a signal ended it. */
  get code(): number | undefined {
    return this.#child?.exitCode ?? undefined;
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, this.#command, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child = child;
    keepFromOutliving(child);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
  }

  async stop(): Promise<void> {
    if (this.#child !== undefined) await endChild(this.#child, 1_000);
  }
}
