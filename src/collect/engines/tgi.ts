import { type Engine, histogram } from './engine.ts';

export const TGI: Engine = {
  name: 'Tgi',
  product: 'Text Generation Inference',
  path: '/metrics',
  port: undefined,
  scheme: 'http',
  gauges: {
    TotalQueuedRequests: [{ name: 'tgi_queue_size' }],
    RunningRequests: [{ name: 'tgi_batch_current_size' }],
    KVCacheUtilization: [],
  },
  mayCountToHundred: false,
  finished: [{ name: 'tgi_request_success' }, { name: 'tgi_request_success_total' }],
  latency: histogram('tgi_request_duration'),
  awake: [],
  source: {
    kind: 'source',
    repository: 'huggingface/text-generation-inference',
    version: '3.3',
    file: 'router/src/server.rs',
  },
  note: 'The gauges are there from the first request on.',
};
