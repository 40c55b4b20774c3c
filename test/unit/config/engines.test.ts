import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { effectiveFile, writeYaml } from '../../../src/config/effective.ts';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { configurationFile } from '../../../src/config/schema.ts';
import type { CollectSettings } from '../../../src/core/model/collect-settings.ts';
import { edit } from './bad/bad-file.ts';

function http(fields: string): string {
  return edit(['HttpMetricCollect: {Path: /metrics}', `HttpMetricCollect: {${fields}}`]);
}

function collectOf(text: string): CollectSettings {
  const result = parseConfiguration(text, 'f');
  const settings = result.kind === 'valid' ? result.configuration.serverGroups[0]?.loadAware : undefined;
  return (
    settings?.collect ?? assert.fail(result.kind === 'valid' ? '' : result.mistakes.map(formatMistake).join())
  );
}

/** Path, port and scheme. */
function place({ path, port, scheme }: CollectSettings): readonly unknown[] {
  return [path, port, scheme];
}

test('a named engine brings its path, port and scheme', () => {
  assert.deepEqual(place(collectOf(http('Engine: Vllm'))), ['/metrics', undefined, 'http']);
  assert.deepEqual(place(collectOf(http('Engine: TrtLlm'))), ['/prometheus/metrics', undefined, 'http']);
  assert.deepEqual(place(collectOf(http('Engine: Nim'))), ['/v1/metrics', undefined, 'http']);
  assert.deepEqual(place(collectOf(http('Engine: Triton'))), ['/metrics', 8002, 'http']);
  assert.deepEqual(place(collectOf(http('Engine: MindIe'))), ['/metrics', 1027, 'https']);
  assert.deepEqual(place(collectOf(http('Engine: MindIe, Tls: {CaFile: ca.pem}'))), [
    '/metrics',
    1027,
    'https',
  ]);
});

test('what is written down holds, whatever the engine', () => {
  const text = http('Engine: MindIe, Path: /m, Port: 99, Scheme: http');
  assert.deepEqual(place(collectOf(text)), ['/m', 99, 'http']);
});

test('without an engine it is Auto', () => {
  const { engine, metrics } = collectOf(http('Path: /metrics'));
  assert.equal(engine, 'Auto');
  assert.deepEqual(metrics.labels, {});
});

test('metrics by name, or with labels; a metric of its own makes up for one that the engine lacks', () => {
  const fields =
    'Engine: Tgi, Metrics: {KVCacheUtilization: {Name: cache, Labels: {tier: gpu}}, Finished: done, Labels: {model: a}}';
  const { engine, metrics } = collectOf(http(fields));
  assert.equal(engine, 'Tgi');
  assert.deepEqual(metrics, {
    TotalQueuedRequests: undefined,
    KVCacheUtilization: { name: 'cache', labels: { tier: 'gpu' } },
    RunningRequests: undefined,
    finished: { name: 'done', labels: {} },
    labels: { model: 'a' },
  });
});

test('a scorer of weight 0 needs no metric', () => {
  const text = http('Engine: Tgi').replace('KVCacheUtilization, Weight: 30', 'KVCacheUtilization, Weight: 0');
  assert.equal(collectOf(text).engine, 'Tgi');
});

test('the effective file says what the engine brings, and stands for the same', () => {
  const text = http(
    'Engine: Triton, Metrics: {TotalQueuedRequests: queue, Labels: {model: "7"}}, Method: POST, Path: /m?x=1',
  );
  const effective = writeYaml(effectiveFile(configurationFile.parse(parse(text))));
  assert.deepEqual(collectOf(effective), collectOf(text));
  const [, printed] = /HttpMetricCollect:\n((?: {14}.*\n)+)/.exec(effective) ?? [];
  assert.deepEqual(parse(printed ?? ''), {
    Path: '/m?x=1',
    Method: 'POST',
    Port: 8002,
    Scheme: 'http',
    Engine: 'Triton',
    Metrics: { TotalQueuedRequests: 'queue', Labels: { model: '7' } },
    LeanScrape: false,
  });
});
