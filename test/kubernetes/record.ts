/**
 * Writes down what a real API server answers, for the tests that have none:
 * `node --import tsx test/kubernetes/record.ts` writes `test/unit/discovery/kubernetes/recorded.jsonl`.
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { KubeCluster } from '../support/kube-cluster.ts';
import { pod, podStatus, pool, service, slice } from '../support/kube-objects.ts';
import { RECORDED, type Recorded } from '../support/recorded-api.ts';

const cluster = await KubeCluster.start();
const { admin } = cluster.api;
const records: Recorded[] = [];
const LABELS = { app: 'llama' };
const SLICES = `${cluster.slices()}?labelSelector=${encodeURIComponent('kubernetes.io/service-name=llama')}`;
const SERVICES = `${cluster.core('services')}?fieldSelector=${encodeURIComponent('metadata.name=llama')}`;
const PODS = `${cluster.core('pods')}?labelSelector=${encodeURIComponent('app=llama')}`;
const POOLS = `${cluster.pools()}?fieldSelector=${encodeURIComponent('metadata.name=llama')}`;

try {
  await keepAnswer('pools list: no such API', POOLS);
  await recordSlices();
  await recordPods();
  await recordPools();
  await recordRefusals();
  await recordTooOld();
  writeFileSync(RECORDED, `${records.map((record) => JSON.stringify(record)).join('\n')}\n`);
} finally {
  await cluster.stop();
}

async function recordSlices(): Promise<void> {
  await keepAnswer('services list: empty', SERVICES);
  await admin.call('POST', cluster.core('services'), service('llama'));
  const conditions = { ready: false, serving: false };
  const one = slice({
    name: 'llama-a',
    service: 'llama',
    endpoints: [
      { address: '10.0.0.1', zone: 'zone-a' },
      { address: '10.0.0.2', zone: 'zone-b' },
      { address: '10.0.0.3', conditions },
    ],
  });
  await admin.call('POST', cluster.slices(), one);
  await keepAnswer('services list', SERVICES);
  const listed = await keepAnswer('slices list', SLICES);
  const watch = await open(SLICES, listed, 5);
  await admin.call(
    'POST',
    cluster.slices(),
    slice({ name: 'llama-b', service: 'llama', endpoints: [{ address: '10.0.0.4' }] }),
  );
  const ends = { ready: false, serving: true, terminating: true };
  await admin.call('PUT', cluster.slices('llama-a'), {
    ...one,
    endpoints: slice({
      name: '',
      service: '',
      endpoints: [{ address: '10.0.0.1', zone: 'zone-a', conditions: ends }, { address: '10.0.0.3' }],
    })['endpoints'],
  });
  await admin.call('DELETE', cluster.slices('llama-b'));
  // the last line before its end is a bookmark
  await keepStream('slices watch', watch);
}

async function recordPods(): Promise<void> {
  for (const [name, ip] of [
    ['llama-0', '10.0.1.1'],
    ['llama-1', '10.0.1.2'],
  ] as const) {
    const finalizers = ['example.com/stays'];
    await cluster.runPod(pod({ name, labels: LABELS, finalizers }), podStatus(ip));
  }
  const first = await keepAnswer('pods list: page 1', `${PODS}&limit=1`);
  const { metadata } = first as { readonly metadata: { readonly continue: string } };
  const second = await keepAnswer('pods list: page 2', `${PODS}&limit=1&continue=${metadata.continue}`);
  const watch = await open(PODS, second, 5);
  const annotations = { 'plimsoll.io/metrics-port': '9400', 'plimsoll.io/metrics-path': 'metrics' };
  await admin.call('PATCH', cluster.core('pods', 'llama-0'), { metadata: { annotations } });
  await admin.call('PATCH', `${cluster.core('pods', 'llama-1')}/status`, podStatus('10.0.1.2', false));
  await admin.call('DELETE', cluster.core('pods', 'llama-0'));
  await keepStream('pods watch', watch);
}

async function recordPools(): Promise<void> {
  await cluster.installPools();
  await keepAnswer('pools list: empty', POOLS);
  await admin.call('POST', cluster.pools(), pool('llama', 'llama', [8000, 8001]));
  await keepAnswer('pools list', POOLS);
}

async function recordRefusals(): Promise<void> {
  const token = await cluster.api.serviceAccount('default', 'plimsoll');
  await keepAnswer('slices list: forbidden', SLICES, token);
  await keepAnswer('slices list: unauthorized', SLICES, 'nobody');
  await keepAnswer('pods list: bad selector', `${cluster.core('pods')}?labelSelector=app+in+llama`);
}

/** A watch from a version that the API server does not know any more. */
async function recordTooOld(): Promise<void> {
  const listed = await ask(`${SLICES}&limit=1`);
  await admin.call('DELETE', cluster.slices('llama-a'));
  await cluster.api.compact();
  await cluster.api.stopServer();
  await cluster.api.startServer();
  await keepStream('slices watch: too old', await open(SLICES, listed.body, 5));
}

interface Asked {
  readonly status: number;
  readonly body: unknown;
}

async function keepAnswer(name: string, path: string, token?: string): Promise<unknown> {
  const { status, body } = await ask(path, token);
  records.push({ name, status, body: slim(body) });
  return body;
}

async function ask(path: string, token?: string): Promise<Asked> {
  const response = await send(path, token);
  const text = await textOf(response);
  return {
    status: response.statusCode ?? 0,
    body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text,
  };
}

function open(path: string, listed: unknown, seconds: number): Promise<IncomingMessage> {
  const { resourceVersion } = (listed as { readonly metadata: { readonly resourceVersion: string } })
    .metadata;
  const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${resourceVersion}`;
  return send(`${path}&${query}`);
}

async function keepStream(name: string, response: IncomingMessage): Promise<void> {
  const lines = (await textOf(response)).split('\n').filter((line) => line !== '');
  records.push({
    name,
    status: response.statusCode ?? 0,
    lines: lines.map((line) => slim(JSON.parse(line))),
  });
}

async function send(path: string, token = 'admin-token'): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  const request = httpsRequest(`${cluster.api.url}${path}`, { ca: cluster.api.ca, headers });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  return text;
}

/** Without what is said of who wrote which field, and what a container is made of. */
function slim(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      ['managedFields', 'containers'].includes(key) ? undefined : inner,
    ),
  ) as unknown;
}
