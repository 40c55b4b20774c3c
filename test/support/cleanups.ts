/**
 * What a test must end, whatever of it was reached: a start that fails half-way leaves nothing behind, and its own error
 * is the one that is told.
 */
export class Cleanups {
  readonly #steps: (() => unknown)[] = [];

  /** Before what the step ends is begun: it must do no harm where there is nothing to end. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** The same promise. What it becomes is ended, also where another start has failed meanwhile. */
  own<T>(starting: Promise<T>, end: (started: T) => unknown): Promise<T> {
    this.add(async () => {
      const [outcome] = await Promise.allSettled([starting]);
      if (outcome.status === 'fulfilled') await end(outcome.value);
    });
    return starting;
  }

  /**
   * Runs the steps, the last one first and all of them, and forgets them.
   * @throws the error of the first that failed
   */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
