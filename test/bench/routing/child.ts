import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { endChild, keepFromOutliving } from '../../../src/demo/children.ts';
import { PlimsollError } from '../../../src/runtime/errors.ts';

/** A program of the bench in a process of its own, which is asked one thing after the other. */
export class Child<Ask, Answer> {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void }[] = [];
  #gone: Error | undefined;

  /** @param program beside this file */
  constructor(program: string) {
    this.#name = program;
    this.#child = fork(new URL(program, import.meta.url), {
      execArgv: ['--import', import.meta.resolve('tsx')],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // Ctrl-C in the terminal reaches the parent alone, which ends this in order
      detached: true,
    });
    keepFromOutliving(this.#child);
    this.#child.on('message', (answer) => {
      this.#waiting.shift()?.resolve(answer as Answer);
    });
    this.#child.once('error', (error) => {
      this.#fail(error);
    });
    this.#child.once('exit', (code, signal) => {
      this.#fail(new PlimsollError('io', `${program}: ended with ${code ?? signal}`));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Answers come in the order of the questions. */
  ask(question: Ask): Promise<Answer> {
    if (this.#gone !== undefined) return Promise.reject(this.#gone);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.send(question as object, (error) => {
        if (error !== null) this.#fail(error);
      });
    });
  }

  async stop(): Promise<void> {
    this.#gone = new PlimsollError('io', `${this.#name}: stopped`);
    await endChild(this.#child, 2000);
    this.#fail(this.#gone);
  }

  #fail(error: Error): void {
    this.#gone ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

/** The other side: answers every question that the parent asks, and ends with it. */
export async function answerParent(answer: (question: never) => Promise<object>): Promise<void> {
  process.on('message', (question) => {
    void answer(question as never).then((value) => process.send?.(value));
  });
  await once(process, 'disconnect');
  process.exit();
}
