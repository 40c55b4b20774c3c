import type { FinishedRequest } from './engine.ts';
import { pythonNumber } from './histogram.ts';
import type { EngineView, Page } from './page.ts';

/** vLLM's families that load-aware routing reads, and no others: for fleets whose pages' size is not the subject. */
export class LeanPage implements Page {
  readonly #labels: string;
  #endToEndSeconds = 0;

  constructor(modelName: string) {
    this.#labels = `engine="0",model_name="${modelName}"`;
  }

  record({ arrivedMs, finishedMs }: FinishedRequest): void {
    this.#endToEndSeconds += (finishedMs - arrivedMs) / 1000;
  }

  render({ gauges, counters }: EngineView): string {
    const gauge = (name: string, value: number): string =>
      `# TYPE ${name} gauge\n${name}{${this.#labels}} ${pythonNumber(value)}\n`;
    const counter = (name: string, value: number): string =>
      `# TYPE ${name} counter\n${name}{${this.#labels}} ${pythonNumber(value)}\n`;
    const latency = 'vllm:e2e_request_latency_seconds';
    const finished = pythonNumber(counters.finished);
    return [
      gauge('vllm:num_requests_running', gauges.running),
      gauge('vllm:num_requests_waiting', gauges.waiting),
      gauge('vllm:kv_cache_usage_perc', gauges.kvUtilization),
      counter('vllm:prefix_cache_queries_total', counters.takenInTokens),
      counter('vllm:prompt_tokens_total', counters.promptTokens),
      counter('vllm:generation_tokens_total', counters.generatedTokens),
      '# TYPE vllm:request_success_total counter\n',
      `vllm:request_success_total{${this.#labels},finished_reason="length"} ${finished}\n`,
      `# TYPE ${latency} histogram\n`,
      `${latency}_bucket{${this.#labels},le="+Inf"} ${finished}\n`,
      `${latency}_count{${this.#labels}} ${finished}\n`,
      `${latency}_sum{${this.#labels}} ${pythonNumber(this.#endToEndSeconds)}\n`,
    ].join('');
  }
}
