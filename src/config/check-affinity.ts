import { showValue } from './mistake.ts';
import { find, type Report, type TreeNode } from './tree.ts';

/** Headers that something else needs, in lower case, and why. */
const TAKEN: ReadonlyMap<string, string> = new Map([
  ...['authorization', 'cookie', 'set-cookie', 'proxy-authorization', 'www-authenticate'].map(
    (name) => [name, 'it holds credentials'] as const,
  ),
  ...[
    'accept',
    'accept-encoding',
    'content-encoding',
    'content-length',
    'content-type',
    'date',
    'host',
    'server',
  ].map((name) => [name, 'it says something else already'] as const),
  ...['connection', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'].map(
    (name) => [name, 'it is for a single connection'] as const,
  ),
  ...['location', 'retry-after', 'traceparent', 'tracestate', 'x-request-id'].map(
    (name) => [name, 'it says something else already'] as const,
  ),
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-proto'].map(
    (name) => [name, 'Envoy and other proxies write it'] as const,
  ),
]);

/** The header of a listener's affinity is free for it. */
export function checkAffinity(listener: TreeNode, report: Report): void {
  const { node, found } = find(listener, ['Affinity', 'Header']);
  if (!found || typeof node.value !== 'string') return;
  const lower = node.value.toLowerCase();
  const reason = lower.startsWith('x-envoy-') ? 'Envoy takes and writes it' : TAKEN.get(lower);
  if (reason === undefined) return;
  report(node, `is ${showValue(node.value)}, which cannot hold a backend: ${reason}`);
}
