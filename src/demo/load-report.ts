import type { EngineGauges, EngineSettings } from './engine.ts';

/** The response header of an ORCA load report. */
export const LOAD_REPORT_HEADER = 'endpoint-load-metrics';
/** Rates are averages over about this long. */
const WINDOW_MS = 5000;

/**
 * The load reports of an inference server, in the text format of ORCA that Envoy reads. Utilisation is the requests
 * inside over the slots, above 1 when some queue, or the share of the KV cache if that is more.
 */
export class LoadReports {
  readonly #finished = new Rate();
  readonly #failed = new Rate();

  finished(nowMs: number): void {
    this.#finished.add(nowMs);
  }

  failed(nowMs: number): void {
    this.#failed.add(nowMs);
  }

  render(gauges: EngineGauges, settings: EngineSettings, nowMs: number): string {
    const inside = (gauges.running + gauges.waiting) / settings.slots;
    const errors = this.#failed.at(nowMs);
    return [
      `TEXT application_utilization:${Math.max(inside, gauges.kvUtilization).toFixed(4)}`,
      // all requests count here, whatever became of them
      `rps_fractional:${(this.#finished.at(nowMs) + errors).toFixed(4)}`,
      `eps:${errors.toFixed(4)}`,
    ].join(',');
  }
}

/** Events per second, a moving average. */
class Rate {
  #startedMs: number | undefined;
  #count = 0;
  #atMs = 0;

  add(nowMs: number): void {
    this.#startedMs ??= nowMs;
    this.#decay(nowMs);
    this.#count++;
  }

  at(nowMs: number): number {
    if (this.#startedMs === undefined) return 0;
    this.#decay(nowMs);
    // the window is not yet full in the beginning
    const weight = 1 - Math.exp(-Math.max(nowMs - this.#startedMs, 1000) / WINDOW_MS);
    return (this.#count / WINDOW_MS / weight) * 1000;
  }

  #decay(nowMs: number): void {
    this.#count *= Math.exp(-(nowMs - this.#atMs) / WINDOW_MS);
    this.#atMs = nowMs;
  }
}
