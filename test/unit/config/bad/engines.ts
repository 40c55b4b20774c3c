import { type BadFile, edit } from './bad-file.ts';

const HTTP = 'ServiceExtensions[0].Components[0].Config.MetricCollector.HttpMetricCollect';
const NAME_RULE = 'the name of a metric: letters, digits, _ and :, not beginning with a digit';

function http(fields: string): string {
  return edit(['HttpMetricCollect: {Path: /metrics}', `HttpMetricCollect: {${fields}}`]);
}

/** Engines and their metrics. */
export const engines: readonly BadFile[] = [
  {
    name: 'an engine in another spelling',
    text: http('Path: /metrics, Engine: vllm'),
    mistakes: [
      `18:57: ${HTTP}.Engine: is "vllm", but must be Auto, Vllm, SgLang, TrtLlm, Triton, Tgi, LlamaCpp, LmDeploy, Nim, MindIe, RayServe or Dynamo; did you mean Vllm?`,
    ],
  },
  {
    name: 'Auto has no path of its own',
    text: http('Engine: Auto'),
    mistakes: [
      `18:32: ${HTTP}.Path: is missing; it must be a path that starts with / and has only visible ASCII characters, no space, unless Engine is another than Auto`,
    ],
  },
  {
    name: 'an engine without the metric of a scorer that has weight',
    text: http('Engine: Tgi'),
    mistakes: [
      `18:41: ${HTTP}.Engine: is Tgi, which has no metric for the scorer KVCacheUtilization; name one in Metrics.KVCacheUtilization, or give the scorer weight 0`,
    ],
  },
  {
    name: 'an engine that had the metric once',
    text: http('Engine: LlamaCpp, Metrics: {TotalQueuedRequests: queue}'),
    mistakes: [
      `18:41: ${HTTP}.Engine: is LlamaCpp, which has no metric for the scorer KVCacheUtilization (older versions have llamacpp:kv_cache_usage_ratio); name one in Metrics.KVCacheUtilization, or give the scorer weight 0`,
    ],
  },
  {
    name: 'metrics that are none, each by itself',
    text: http(
      'Path: /metrics, Metrics: {TotalQueuedRequests: 5xx, Running: a, Finished: {Labels: {a: b}}, Labels: [a]}',
    ),
    mistakes: [
      `18:80: ${HTTP}.Metrics.TotalQueuedRequests: is "5xx", but must be ${NAME_RULE}`,
      `18:85: ${HTTP}.Metrics.Running: is an unknown key; known here: TotalQueuedRequests, KVCacheUtilization, RunningRequests, Finished, Labels`,
      `18:107: ${HTTP}.Metrics.Finished.Name: is missing; it must be ${NAME_RULE}`,
      `18:133: ${HTTP}.Metrics.Labels: is a list, but must be a map of labels, {NAME: VALUE}`,
    ],
  },
  {
    name: 'labels that are none',
    text: http('Path: /metrics, Metrics: {Labels: {engine: 0, a-b: x}, Finished: {Name: a, Labels: {c: 1}}}'),
    mistakes: [
      `18:76: ${HTTP}.Metrics.Labels.engine: is 0, but must be a text, in quotes if it is a number`,
      `18:79: ${HTTP}.Metrics.Labels.a-b: the key must be the name of a label: letters, digits and _, not beginning with a digit`,
      `18:120: ${HTTP}.Metrics.Finished.Labels.c: is 1, but must be a text, in quotes if it is a number`,
    ],
  },
];
