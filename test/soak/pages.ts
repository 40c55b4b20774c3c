import { vllmPage } from '../support/vllm-page.ts';

/** What a metrics page of the soak tells. */
export interface PageValues {
  readonly queued: number;
  readonly running: number;
  /** 0..1 */
  readonly kv: number;
  /** Requests finished since the start. */
  readonly finished: number;
  /** 0: the engine sleeps. */
  readonly awake: 0 | 1;
}

/** A request stays so long, as the latency counters tell. */
const STAY_SECONDS = 6;

/** Only what is read of a vLLM page, as a filter of an exporter leaves it: about 1 kB. */
export function leanPage({ queued, running, kv, finished, awake }: PageValues): string {
  const labels = 'engine="0",model_name="soak"';
  return [
    head('vllm:num_requests_running', 'gauge'),
    `vllm:num_requests_running{${labels}} ${running}\n`,
    head('vllm:num_requests_waiting', 'gauge'),
    `vllm:num_requests_waiting{${labels}} ${queued}\n`,
    head('vllm:kv_cache_usage_perc', 'gauge'),
    `vllm:kv_cache_usage_perc{${labels}} ${kv}\n`,
    head('vllm:engine_sleep_state', 'gauge'),
    `vllm:engine_sleep_state{${labels},sleep_state="awake"} ${awake}\n`,
    head('vllm:request_success_total', 'counter'),
    `vllm:request_success_total{${labels},finished_reason="stop"} ${finished}\n`,
    head('vllm:e2e_request_latency_seconds', 'histogram'),
    `vllm:e2e_request_latency_seconds_bucket{${labels},le="+Inf"} ${finished}\n`,
    `vllm:e2e_request_latency_seconds_count{${labels}} ${finished}\n`,
    `vllm:e2e_request_latency_seconds_sum{${labels}} ${STAY_SECONDS * finished}\n`,
  ].join('');
}

/** The whole page: the same, and what nobody reads, about 40 kB. */
export function fullPage(values: PageValues): string {
  return leanPage(values) + UNREAD;
}

/** Of the families of a vLLM page those that no sample is made of, the same for ever. */
const UNREAD = vllmPage([{ waiting: 0, running: 0, kvUsage: 0, finished: 0, latencySumSeconds: 0 }])
  .split('\n')
  .filter((line) => !/num_requests|cache_usage|sleep_state|request_success|e2e_request_latency/.test(line))
  .join('\n');

function head(name: string, type: string): string {
  return `# HELP ${name} ${name}.\n# TYPE ${name} ${type}\n`;
}
