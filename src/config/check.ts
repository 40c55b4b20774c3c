import { isIPv4 } from 'node:net';
import { formatHostPort } from '../runtime/host-port.ts';
import { INTERVAL_SECONDS } from '../core/limits.ts';
import { isLinkLocal, type Parsed, parseDestination, parseIp } from '../runtime/ip-address.ts';
import { overlaps, parseListen } from './address.ts';
import { checkAffinity } from './check-affinity.ts';
import { checkDiscovery } from './check-discovery.ts';
import { checkEngine } from './check-engine.ts';
import { checkFields } from './check-fields.ts';
import { checkHttp } from './check-http.ts';
import type { Position } from './lines.ts';
import { formatPath, type Mistake, type Path, showValue } from './mistake.ts';
import { type Effort, nearest } from './nearest.ts';
import { type ConfigurationFile, configurationFile } from './schema.ts';
import { ADMIN_LISTEN } from './sections/admin.ts';
import { defaultQueueMarks } from './sections/scheduler.ts';
import { XDS_LISTEN } from './sections/xds.ts';
import { find, items, type Report, type TreeNode } from './tree.ts';

/** For the hints of one file, some 50 ms: thousands of names of another scheme would take thousands times thousands of looks. */
const HINTS_EFFORT = 3_000_000;

export type Checked =
  | {
      readonly kind: 'valid';
      readonly fields: ConfigurationFile;
      /** Where a field stands; of one that is not there, what it would be in. */
      readonly at: (path: Path) => Position;
    }
  | { readonly kind: 'invalid'; readonly mistakes: readonly Mistake[] };

/**
 * Checks every field by itself and every rule that needs several. The rules look at the tree and not at checked fields,
 * so that a mistake of one kind hides none of the other; what they cannot read is left to the checks of fields.
 */
export function check(top: TreeNode, file: string): Checked {
  const mistakes: Mistake[] = [];
  const known = checkFields(top, (at, path, message) => {
    mistakes.push({ file, line: at.line, column: at.column, path: formatPath(path), message });
  });
  checkRules(known, ({ at, path }, message) => {
    mistakes.push({ file, line: at.line, column: at.column, path: formatPath(path), message });
  });
  if (mistakes.length > 0) return { kind: 'invalid', mistakes };
  const at = (path: Path): Position => find(known, path).node.at;
  return { kind: 'valid', fields: configurationFile.parse(known.value), at };
}

function checkRules(top: TreeNode, report: Report): void {
  const groups = items(top.children.get('ServerGroups'));
  const extensions = items(top.children.get('ServiceExtensions'));
  const listeners = items(top.children.get('Listeners'));
  for (const named of [groups, extensions, listeners]) checkUnique(named, 'Name', report);
  const effort = { left: HINTS_EFFORT };
  checkReferences(groups, 'ServiceExtension', extensions, 'service extension', effort, report);
  checkReferences(listeners, 'ServerGroup', groups, 'server group', effort, report);
  for (const group of groups) {
    checkServers(group, report);
    checkDiscovery(group, report);
    checkMode(group, report);
    checkLocality(group, report);
  }
  for (const listener of listeners) checkAffinity(listener, report);
  for (const extension of extensions) checkComponents(extension, report);
  checkListeners(listeners, report);
  checkListens(top, report);
  checkAuthorization(top, groups, effort, report);
}

/** No two nodes have the same string under `key`. */
function checkUnique(nodes: readonly TreeNode[], key: string, report: Report): void {
  const seen = new Map<string, TreeNode>();
  for (const node of nodes) {
    const field = node.children.get(key);
    if (typeof field?.value !== 'string') continue;
    const first = seen.get(field.value);
    if (first === undefined) seen.set(field.value, field);
    else report(field, `is ${showValue(field.value)}, but must be unique; ${isTaken(first)}`);
  }
}

function isTaken(first: TreeNode): string {
  return `${formatPath(first.path)} in line ${first.at.line} has it already`;
}

/** What `key` of every node names is there. */
function checkReferences(
  nodes: readonly TreeNode[],
  key: string,
  targets: readonly TreeNode[],
  what: string,
  effort: Effort,
  report: Report,
): void {
  const fields = nodes.flatMap((node) => node.children.get(key) ?? []);
  checkNames(fields, targets, what, effort, report);
}

/** Each field has the Name of one of the targets. */
function checkNames(
  fields: readonly TreeNode[],
  targets: readonly TreeNode[],
  what: string,
  effort: Effort,
  report: Report,
): void {
  const names = new Set(targets.map((target) => target.children.get('Name')?.value).filter(isString));
  for (const field of fields) {
    if (!isString(field.value) || names.has(field.value)) continue;
    const meant = nearest(field.value, names, effort);
    const hint = meant === undefined ? '' : `; did you mean ${showValue(meant)}?`;
    report(field, `is ${showValue(field.value)}, but must be the name of a ${what} in this file${hint}`);
  }
}

function checkServers(group: TreeNode, report: Report): void {
  const servers = items(group.children.get('Servers'));
  const seen = new Map<string, TreeNode>();
  const allowsLinkLocal = group.children.get('AllowLinkLocal')?.value === true;
  for (const server of servers) {
    const address = parseField(server, 'Address', parseDestination);
    if (address !== undefined && !allowsLinkLocal && isLinkLocal(address.value)) {
      report(
        address.node,
        `is ${showValue(address.node.value)}, a link-local address, where clouds give out secrets; ` +
          'a group with AllowLinkLocal: true may have it',
      );
    }
    const port = server.children.get('Port')?.value;
    if (address === undefined || typeof port !== 'number') continue;
    const id = formatHostPort(address.value, port);
    const first = seen.get(id);
    if (first === undefined) seen.set(id, address.node);
    else report(address.node, `is ${id} with its port, but must be unique in its group; ${isTaken(first)}`);
  }
  checkNotAllZero(group.children.get('Servers'), 'server', report);
}

/** What follows no load has nothing to observe. */
function checkMode({ children }: TreeNode, report: Report): void {
  const mode = children.get('Mode');
  if (mode?.value !== 'Observe' || children.has('ServiceExtension')) return;
  report(
    mode,
    'is "Observe", which needs a ServiceExtension: without one the configured weights hold anyway',
  );
}

/** When to go elsewhere, only the load says; and there is somewhere to stay. */
function checkLocality({ children }: TreeNode, report: Report): void {
  const locality = children.get('Locality');
  if (locality?.value !== 'Prefer') return;
  if (!children.has('ServiceExtension')) {
    report(
      locality,
      'is "Prefer", which needs a ServiceExtension: without one nobody knows when a zone is busier than the others',
    );
  }
  const servers = items(children.get('Servers'));
  if (servers.length > 0 && servers.every((server) => !server.children.has('Zone'))) {
    report(locality, 'is "Prefer", but no server says its Zone: write it into Servers[].Zone');
  }
}

/** At least one item of a list has a Weight other than 0. */
function checkNotAllZero(list: TreeNode | undefined, what: string, report: Report): void {
  const all = items(list);
  if (list === undefined || all.length === 0) return;
  if (all.some((item) => item.children.get('Weight')?.value !== 0)) return;
  report(list, `has weight 0 for every ${what}, but at least one must be above 0`);
}

function checkComponents(extension: TreeNode, report: Report): void {
  // One of another type, or of none, has been reported already.
  const components = items(extension.children.get('Components')).filter(({ children }) =>
    children.has('Type'),
  );
  for (const component of components) {
    if (component !== components[0]) report(component, 'is a second component, but there must be only one');
    checkInterval(component, report);
    checkHttp(component, report);
    checkEngine(component, report);
    const scheduler = find(component, ['Config', 'Scheduler']);
    if (!scheduler.found) continue;
    const scorers = scheduler.node.children.get('Scorers');
    checkUnique(items(scorers), 'Name', report);
    checkNotAllZero(scorers, 'scorer', report);
    const interval = intervalSeconds(find(component, ['Config', 'MetricCollector']).node);
    checkMarks(scheduler.node, interval === undefined ? undefined : defaultQueueMarks(interval), report);
  }
}

/** The time between collections is there once. */
function checkInterval(component: TreeNode, report: Report): void {
  const collector = find(component, ['Config', 'MetricCollector']);
  if (!collector.found || !isPlainMap(collector.node.value)) return;
  const { node } = collector;
  const seconds = node.children.get('Interval');
  const milliseconds = node.children.get('IntervalMilliseconds');
  if (milliseconds === undefined && seconds === undefined) {
    const rule = `an integer ${INTERVAL_SECONDS.min}..${INTERVAL_SECONDS.max}`;
    const field = { ...node, path: [...node.path, 'Interval'] };
    report(field, `is missing; it must be ${rule}, unless there is IntervalMilliseconds`);
  } else if (milliseconds !== undefined && seconds !== undefined) {
    report(
      milliseconds,
      `is ${showValue(milliseconds.value)}, but must not be there beside Interval in line ${seconds.at.line}`,
    );
  }
}

/** undefined: it is not known. */
function intervalSeconds(collector: TreeNode): number | undefined {
  const seconds = collector.children.get('Interval')?.value;
  if (typeof seconds === 'number') return seconds;
  const milliseconds = collector.children.get('IntervalMilliseconds')?.value;
  return typeof milliseconds === 'number' ? milliseconds / 1000 : undefined;
}

/** Clear < Mark, whether they are given or defaults. */
function checkMarks(
  scheduler: TreeNode,
  queueDefaults: { readonly Mark: number; readonly Clear: number } | undefined,
  report: Report,
): void {
  const saturation = scheduler.children.get('Saturation');
  for (const metric of ['TotalQueuedRequests', 'RunningRequests']) {
    const defaults = metric === 'TotalQueuedRequests' ? queueDefaults : undefined;
    const given = saturation?.children.get(metric)?.children;
    const mark = given?.get('Mark');
    const clear = given?.get('Clear');
    const markValue = mark === undefined ? defaults?.Mark : mark.value;
    const clearValue = clear === undefined ? defaults?.Clear : clear.value;
    if (typeof markValue !== 'number' || typeof clearValue !== 'number' || clearValue < markValue) continue;
    if (clear !== undefined) {
      report(
        clear,
        `is ${clearValue}, but must be below Mark, ${markValue}${mark === undefined ? ' by default' : ''}`,
      );
    } else if (mark !== undefined) {
      report(mark, `is ${markValue}, but must be above Clear, ${clearValue} by default`);
    }
  }
}

/** No two listeners take the same address and port; Envoy's IPv6 sockets take no IPv4. */
function checkListeners(listeners: readonly TreeNode[], report: Report): void {
  /** The first one of an address and port, and by a star the first one of a port, whatever its address. */
  const seen = new Map<string, { readonly node: TreeNode; readonly order: number }>();
  for (const [order, listener] of listeners.entries()) {
    const address = parseField(listener, 'Address', parseIp);
    const port = listener.children.get('Port')?.value;
    if (address === undefined || typeof port !== 'number') continue;
    const { node, value } = address;
    const every = isIPv4(value) ? '0.0.0.0' : '::';
    const any = `${every} * ${port}`;
    const others = value === every ? [any] : [`${value} ${port}`, `${every} ${port}`];
    const [first] = others.flatMap((key) => seen.get(key) ?? []).toSorted((a, b) => a.order - b.order);
    if (first !== undefined) {
      report(
        node,
        `is ${formatHostPort(value, port)} with its port, but must be free; ${isTaken(first.node)}`,
      );
    }
    for (const key of [any, `${value} ${port}`]) if (!seen.has(key)) seen.set(key, { node, order });
  }
}

/** Xds and Admin listen on different ports, unless the kernel chooses one. */
function checkListens(top: TreeNode, report: Report): void {
  const xdsField = find(top, ['Xds', 'Listen']);
  const adminField = find(top, ['Admin', 'Listen']);
  const xds = parseListen(xdsField.found ? String(xdsField.node.value) : XDS_LISTEN);
  const admin = parseListen(adminField.found ? String(adminField.node.value) : ADMIN_LISTEN);
  if (xds.kind === 'bad' || admin.kind === 'bad') return;
  if (xds.value.port !== admin.value.port || xds.value.port === 0) return;
  if (!overlaps(xds.value.host, admin.value.host, true)) return;
  const [{ node }, other] = adminField.found
    ? [adminField, `Xds.Listen, ${formatHostPort(xds.value.host, xds.value.port)}`]
    : [xdsField, `Admin.Listen, ${formatHostPort(admin.value.host, admin.value.port)}`];
  report(node, `is ${showValue(node.value)}, but must differ from ${other}`);
}

/** Rules are about clients that have been verified and about groups that are there. */
function checkAuthorization(
  top: TreeNode,
  groups: readonly TreeNode[],
  effort: Effort,
  report: Report,
): void {
  const { node, found } = find(top, ['Xds', 'Authorization']);
  if (!found) return;
  if (!find(top, ['Xds', 'Tls', 'ClientCaFile']).found) {
    report(node, 'needs Xds.Tls.ClientCaFile: without a certificate no client has an identity');
  }
  checkUnique(items(node), 'Identity', report);
  const named = items(node).flatMap((rule) => items(rule.children.get('ServerGroups')));
  checkNames(
    named.filter(({ value }) => value !== '*'),
    groups,
    'server group',
    effort,
    report,
  );
}

function parseField<T>(
  node: TreeNode,
  key: string,
  parse: (text: string) => Parsed<T>,
): { readonly node: TreeNode; readonly value: T } | undefined {
  const field = node.children.get(key);
  if (!isString(field?.value)) return undefined;
  const parsed = parse(field.value);
  return parsed.kind === 'ok' ? { node: field, value: parsed.value } : undefined;
}

function isPlainMap(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
