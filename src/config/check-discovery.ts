import { showValue } from './mistake.ts';
import type { Report, TreeNode } from './tree.ts';

const SOURCES = ['Dns', 'File', 'Kubernetes'];
const TARGETS = ['Service', 'PodSelector', 'InferencePool'];

/** The backends of a group are listed, or found in one way. */
export function checkDiscovery(group: TreeNode, report: Report): void {
  const servers = group.children.get('Servers');
  const discovery = group.children.get('Discovery');
  if (servers === undefined && discovery === undefined && isMap(group)) {
    const field = { ...group, path: [...group.path, 'Servers'] };
    report(field, 'is missing; it must be a list of at least one server, unless there is Discovery');
  }
  if (discovery === undefined) return;
  if (servers !== undefined) {
    const field = { ...discovery, at: discovery.keyAt };
    report(field, `must not be there beside Servers in line ${servers.keyAt.line}`);
  }
  if (!isMap(discovery)) return;
  checkOneOf(discovery, SOURCES, report);
  const dns = discovery.children.get('Dns');
  if (dns !== undefined && isMap(dns)) checkDns(dns, report);
  const kubernetes = discovery.children.get('Kubernetes');
  if (kubernetes !== undefined && isMap(kubernetes)) checkKubernetes(kubernetes, report);
}

function checkDns(dns: TreeNode, report: Report): void {
  const type = dns.children.get('Type')?.value ?? 'A';
  const port = dns.children.get('Port');
  if (type === 'A' && port === undefined) {
    report(
      { ...dns, path: [...dns.path, 'Port'] },
      'is missing; it must be an integer 1..65535, unless Type is SRV',
    );
  }
  if (type === 'SRV' && port !== undefined) {
    report(
      port,
      `is ${showValue(port.value)}, but must not be there with Type SRV, whose records have the ports`,
    );
  }
}

function checkKubernetes(kubernetes: TreeNode, report: Report): void {
  checkOneOf(kubernetes, TARGETS, report);
  const { children } = kubernetes;
  const portName = children.get('PortName');
  if (portName !== undefined && !children.has('Service')) {
    report(portName, `is ${showValue(portName.value)}, but must not be there without Service`);
  }
  const port = children.get('Port');
  const hasSelector = children.has('PodSelector');
  if (hasSelector && port === undefined) {
    const field = { ...kubernetes, path: [...kubernetes.path, 'Port'] };
    report(field, 'is missing; it must be an integer 1..65535, as there is PodSelector');
  }
  if (!hasSelector && port !== undefined) {
    report(port, `is ${showValue(port.value)}, but must not be there without PodSelector`);
  }
}

function checkOneOf({ children, ...node }: TreeNode, keys: readonly string[], report: Report): void {
  const there = keys.filter((key) => children.has(key));
  const [first, second] = there.map((key) => children.get(key));
  const all = `${keys.slice(0, -1).join(', ')} and ${keys.at(-1) ?? ''}`;
  if (first === undefined) report({ children, ...node }, `has none of ${all}, but must have exactly one`);
  else if (second !== undefined) {
    report(
      { ...second, at: second.keyAt },
      `must not be there beside ${there[0] ?? ''} in line ${first.keyAt.line}: exactly one of ${all} is allowed`,
    );
  }
}

function isMap({ value }: TreeNode): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
