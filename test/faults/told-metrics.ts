import type { IncomingMessage, ServerResponse } from 'node:http';
import type { MetricsBehaviour, SimulatedBackend } from '../../src/demo/backend.ts';
import { filterPage } from '../../src/demo/page-filter.ts';
import { vllmPage } from '../support/vllm-page.ts';
import type { MetricsChange } from './backend-change.ts';

interface Gauges {
  readonly running: number;
  readonly waiting: number;
  readonly kvUtilization: number;
}

const IDLE: Gauges = { running: 0, waiting: 0, kvUtilization: 0 };
const FULL: Gauges = { running: 1_000_000, waiting: 1_000_000, kvUtilization: 1 };
const SATURATED: Gauges = { running: 16, waiting: 40, kvUtilization: 0.9 };
/** What a finished request is said to have stayed. */
const STAY_SECONDS = 2.5;

/** The behaviour of a backend that is told so. */
export function metricsOf(backend: SimulatedBackend, told: MetricsChange): MetricsBehaviour {
  switch (told.kind) {
    case 'live':
    case 'frozen':
    case 'hang':
    case 'html':
    case 'status':
      return told;
    case 'loss':
      return custom((request, response) => {
        if (Math.random() >= told.share) answer(request, response, pageOf(backend, backend.gauges));
      });
    case 'late':
      return custom((request, response) => {
        setTimeout(() => {
          answer(request, response, pageOf(backend, backend.gauges));
        }, told.milliseconds);
      });
    case 'asleep':
      return custom((request, response) => {
        answer(request, response, asleep(pageOf(backend, IDLE)));
      });
    case 'idle': {
      const page = pageOf(backend, IDLE);
      return custom((request, response) => {
        answer(request, response, page);
      });
    }
    case 'stuck':
      return stuck(backend);
    case 'lie':
      return custom((request, response) => {
        answer(request, response, pageOf(backend, lieOf(backend.gauges, told.as)));
      });
  }
}

function lieOf(gauges: Gauges, as: (MetricsChange & { readonly kind: 'lie' })['as']): Gauges {
  if (as === 'zero') return IDLE;
  if (as === 'max') return FULL;
  if (as === 'saturated') return SATURATED;
  const factor = Math.random() < 0.5 ? 0.1 : 10;
  return {
    running: Math.round(gauges.running * factor),
    waiting: Math.round(gauges.waiting * factor),
    kvUtilization: Math.min(1, gauges.kvUtilization * factor),
  };
}

/** As an engine whose callers all went away: the gauges of before stay until the next request comes. */
function stuck(backend: SimulatedBackend): MetricsBehaviour {
  const { accepted } = backend;
  const page = pageOf(backend, SATURATED);
  return custom((request, response) => {
    answer(request, response, backend.accepted === accepted ? page : pageOf(backend, backend.gauges));
  });
}

function custom(answerWith: (request: IncomingMessage, response: ServerResponse) => void): MetricsBehaviour {
  return { kind: 'custom', answer: answerWith };
}

function pageOf(backend: SimulatedBackend, { running, waiting, kvUtilization }: Gauges): string {
  const { finished } = backend.counters;
  return vllmPage([
    { running, waiting, kvUsage: kvUtilization, finished, latencySumSeconds: STAY_SECONDS * finished },
  ]);
}

function asleep(page: string): string {
  return page.replace(
    /(vllm:engine_sleep_state\{[^}]*)sleep_state="awake"\} 1\.0/,
    '$1sleep_state="awake"} 0.0',
  );
}

function answer({ url = '' }: IncomingMessage, response: ServerResponse, page: string): void {
  response.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
  response.end(url.startsWith('/metrics/') ? filterPage(page, url) : page);
}
