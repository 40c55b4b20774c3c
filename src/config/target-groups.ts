import { formatPath, type Path, showValue } from './mistake.ts';
import type { ParsedList } from './parsed-list.ts';
import { parseJson } from './server-list.ts';
import { find, parseTree } from './tree.ts';

/** A target of a list for Prometheus, and the labels of its group. */
export interface Target {
  /** As it stands there: `HOST:PORT`. */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What is wrong and where, before it is known in which line. */
interface Fault {
  readonly path: Path;
  readonly message: string;
}

/**
 * Reads a file of Prometheus' `file_sd_configs`, YAML or JSON: a list of `{targets: [HOST:PORT], labels: {NAME: VALUE}}`.
 * JSON is read many times as fast.
 * @param file its name in mistakes
 */
export function parseTargetGroups(text: string, file: string): ParsedList<Target> {
  const json = readGroups(parseJson(text));
  if (json.kind === 'list') return json;
  const tree = parseTree(text, file);
  if (tree.kind === 'broken') return { kind: 'invalid', mistakes: tree.mistakes };
  const read = readGroups(tree.top.value);
  if (read.kind === 'list') return read;
  const { path, message } = read;
  const { line, column } = find(tree.top, path).node.at;
  return { kind: 'invalid', mistakes: [{ file, line, column, path: formatPath(path), message }] };
}

function readGroups(
  value: unknown,
): { readonly kind: 'list'; readonly items: readonly Target[] } | ({ readonly kind: 'fault' } & Fault) {
  if (!Array.isArray(value)) return fault([], value, 'a list of target groups, [] if there are none');
  const targets: Target[] = [];
  for (const [index, group] of value.entries()) {
    if (!isMap(group)) return fault([index], group, 'a map with targets, and labels if there are any');
    const labels = group['labels'] ?? {};
    if (!isMap(labels)) return fault([index, 'labels'], labels, 'a map of labels, {NAME: VALUE}');
    const read = readLabels(labels);
    if (typeof read === 'string') {
      return fault([index, 'labels', read], labels[read], 'a text or a number');
    }
    const addresses = group['targets'];
    if (!Array.isArray(addresses)) return fault([index, 'targets'], addresses, 'a list of HOST:PORT');
    for (const [place, address] of addresses.entries()) {
      if (typeof address !== 'string') return fault([index, 'targets', place], address, 'HOST:PORT');
      targets.push({ address, labels: read });
    }
  }
  return { kind: 'list', items: targets };
}

/** @returns the name of a label that has no value of a label. */
function readLabels(labels: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | string {
  const read: [string, string][] = [];
  for (const [name, value] of Object.entries(labels)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return name;
    read.push([name, String(value)]);
  }
  return Object.fromEntries(read);
}

function fault(path: Path, value: unknown, rule: string): { readonly kind: 'fault' } & Fault {
  const is = value === undefined ? 'is missing' : `is ${showValue(value)}`;
  // another file by mistake, perhaps one with a token: its words are not repeated
  const whole = typeof value === 'string' ? 'is a text' : is;
  const subject = path.length === 0 ? `the file ${whole}` : is;
  return { kind: 'fault', path, message: `${subject}, but must be ${rule}` };
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
