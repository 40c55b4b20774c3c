import { type GaugeBackend, pageOf } from '../../support/gauge-backend.ts';

export const SLOW_MS = 800;

const [LIGHT, HEAVY] = [8, 24].map((running) =>
  Buffer.from(pageOf({ queued: 0, running, kv: 0.5, finished: 0 })),
);

/** Half of the backends are loaded; at the next collection it is the other half. */
export class AlternatingLoad {
  #count = 0;
  #begun: () => void = () => undefined;

  /** @param slow the second backend takes {@link SLOW_MS} to show its metrics, and the third never does. */
  constructor(backends: readonly GaugeBackend[], slow: boolean) {
    for (const [index, backend] of backends.entries()) {
      backend.metrics = (_request, response) => {
        if (index === 0) this.#begin();
        const page = (index + this.#count) % 2 === 0 ? LIGHT : HEAVY;
        if (slow && index === 1) setTimeout(() => response.end(page), SLOW_MS);
        else if (!slow || index !== 2) response.end(page);
      };
    }
  }

  /** Resolves when the next collection begins. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#begun = resolve;
    });
  }

  #begin(): void {
    this.#count++;
    this.#begun();
  }
}
