import { ENGINES } from '../collect/engines/catalogue.ts';
import { REDACTED, showValue } from './mistake.ts';
import { find, type Report, type TreeNode } from './tree.ts';

/** Names, in lower case, that a request cannot have from the configuration, and why. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['host', 'it has its own field, Host'],
  ['accept-encoding', 'pages are read without an encoding'],
  ['content-length', 'a collection has no body'],
  ['content-encoding', 'a collection has no body'],
  ...[
    'connection',
    'expect',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ].map((name) => [name, 'it is for a single connection'] as const),
]);

/** Rules of a component's HttpMetricCollect that need several fields. */
export function checkHttp(component: TreeNode, report: Report): void {
  const { node, found } = find(component, ['Config', 'MetricCollector', 'HttpMetricCollect']);
  if (!found) return;
  checkTls(node, report);
  checkHeaders(node, report);
  checkLeanScrape(node, report);
}

/** Tls needs https, and a certificate its key. */
function checkTls({ children }: TreeNode, report: Report): void {
  const tls = children.get('Tls');
  if (tls === undefined) return;
  const engine = ENGINES.find(({ name }) => name === children.get('Engine')?.value);
  const scheme = children.get('Scheme')?.value ?? engine?.scheme ?? 'http';
  if (scheme === 'http') report(tls, 'needs Scheme: https beside it');
  const cert = tls.children.get('CertFile');
  const key = tls.children.get('KeyFile');
  if (cert !== undefined && key === undefined) report(cert, 'needs KeyFile beside it');
  if (key !== undefined && cert === undefined) report(key, 'needs CertFile beside it');
}

/** No name twice, whatever its case, and none that is not the operator's to set. */
function checkHeaders({ children }: TreeNode, report: Report): void {
  const seen = new Map<string, string>();
  for (const [step, header] of children.get('Headers')?.children ?? []) {
    const name = String(step);
    const lower = name.toLowerCase();
    const first = seen.get(lower);
    const reason = RESERVED.get(lower);
    const atKey = { ...header, at: header.keyAt };
    if (first !== undefined) report(atKey, `is the header ${first} again: their names have no case`);
    else if (reason !== undefined) report(atKey, `cannot be set: ${reason}`);
    else if (lower === 'authorization' && children.has('BearerTokenFile')) {
      report(atKey, 'must not be there beside BearerTokenFile, which sets the same header');
    }
    if (header.value === REDACTED) report(header, `is ${REDACTED}, which stands where a value is not shown`);
    seen.set(lower, name);
  }
}

/** Only a plain GET can be made lean. */
function checkLeanScrape({ children }: TreeNode, report: Report): void {
  const lean = children.get('LeanScrape');
  const path = children.get('Path')?.value;
  if (lean?.value !== true) return;
  if (children.get('Method')?.value === 'POST') report(lean, 'is true, but must be false with Method POST');
  else if (typeof path === 'string' && path.includes('?')) {
    report(lean, `is true, but must be false where Path, ${showValue(path)}, has a query`);
  }
}
