import { z } from 'zod';
import { INTERVAL_MS } from '../core/limits.ts';
import { isSecret } from './fields.ts';
import { hideValue, type Path, showValue } from './mistake.ts';
import { nearest } from './nearest.ts';
import { configurationFile } from './schema.ts';
import { COMPONENT_TYPE, component } from './sections/service-extension.ts';
import { items, plainObject, type TreeNode } from './tree.ts';

/** Takes note of a mistake: where, in which field, what. */
export type ReportField = (at: TreeNode['at'], path: Path, message: string) => void;

/**
 * Checks every field by itself: known, there, of its type, in its range.
 * @param schema default: a whole configuration
 * @returns the tree without unknown keys. What stands under a slip in the name of a key that is not there itself counts
 * as that key's, so that one slip hides no other mistake and causes none.
 */
export function checkFields(
  top: TreeNode,
  report: ReportField,
  schema: z.core.$ZodType = configurationFile,
): TreeNode {
  return checkNode(top, schema, report);
}

/** Lists and maps are taken apart here, so that every leaf is checked however many are wrong. */
function checkNode(node: TreeNode, field: z.core.$ZodType, report: ReportField): TreeNode {
  const schema = bare(field, isMap(node));
  if (schema instanceof z.ZodObject && isMap(node)) return checkMap(node, schema, report);
  if (schema instanceof z.ZodRecord && isMap(node)) return checkRecord(node, schema, report);
  if (schema instanceof z.ZodArray && items(node).length > 0) {
    const children = items(node).map((item) => checkNode(item, schema.element, report));
    return { ...node, value: children.map((child) => child.value), children: new Map(children.entries()) };
  }
  const issue = firstIssue(field, node.value);
  if (issue !== undefined) report(node.at, node.path, wrong(issue, node, isSecret(bare(field, false))));
  return node;
}

/** The schema without its default; of alternatives (false or a map) the map where there is a map. */
function bare(schema: z.core.$ZodType, isForMap: boolean): z.core.$ZodType {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return bare(schema.unwrap(), isForMap);
  }
  if (!(schema instanceof z.ZodUnion) || !isForMap) return schema;
  return schema.options.find((option) => option instanceof z.ZodObject) ?? schema;
}

function isMap(node: TreeNode): boolean {
  return typeof node.value === 'object' && node.value !== null && !Array.isArray(node.value);
}

function checkMap(node: TreeNode, schema: z.ZodObject, report: ReportField): TreeNode {
  const fields = new Map(Object.entries<z.core.$ZodType>(schema.shape));
  const type = schema === component ? node.children.get('Type') : undefined;
  const foreign = type !== undefined && isForeignComponent(type.value) ? type : undefined;
  if (foreign !== undefined) {
    const message = `is ${showValue(foreign.value)}, another component; ${COMPONENT_TYPE} is the only one that is supported`;
    report(foreign.at, foreign.path, message);
    if (!hasConfigOfOurs(node)) return { ...node, value: {}, children: new Map() };
  }
  const children = new Map<string, TreeNode>();
  for (const [key, child] of meantChildren(node, [...fields.keys()], report)) {
    const field = fields.get(key);
    const isKept = field === undefined || child === foreign;
    children.set(key, isKept ? child : checkNode(child, field, report));
  }
  for (const [key, field] of fields) {
    const issue = children.has(key) ? undefined : firstIssue(field, undefined);
    if (issue !== undefined) report(node.at, [...node.path, key], `is missing; it must be ${issue.message}`);
  }
  return { ...node, value: plainObject(children), children };
}

/** A map with keys of the operator's choice. */
function checkRecord(node: TreeNode, schema: z.ZodRecord, report: ReportField): TreeNode {
  const children = new Map<string, TreeNode>();
  for (const [key, child] of node.children) {
    const issue = firstIssue(schema.keyType, key);
    const isHidden = issue !== undefined && isSecret(schema);
    const path = isHidden ? [...node.path, beginningOf(String(key))] : child.path;
    if (issue !== undefined) report(child.keyAt, path, `the key must be ${issue.message}`);
    children.set(String(key), isHidden ? child : checkNode(child, schema.valueType, report));
  }
  return { ...node, value: plainObject(children), children };
}

/** Of a key that may have a secret value in it, as it has where the space behind the colon was left out. */
function beginningOf(key: string): string {
  return key.replace(/[^A-Za-z0-9-][^]*$/, '…');
}

/** The children by the key that is meant; keys that are not known are reported. */
function meantChildren(
  node: TreeNode,
  known: readonly string[],
  report: ReportField,
): ReadonlyMap<string, TreeNode> {
  const children = new Map<string, TreeNode>();
  const slips: [string, TreeNode][] = [];
  for (const [step, child] of node.children) {
    const key = String(step);
    const meant = known.includes(key) ? key : nearest(key, known);
    if (meant === key) children.set(key, child);
    else {
      report(child.keyAt, child.path, unknownKey(key, meant, known));
      if (meant !== undefined) slips.push([meant, child]);
    }
  }
  for (const [meant, child] of slips) if (!children.has(meant)) children.set(meant, child);
  return children;
}

function unknownKey(key: string, meant: string | undefined, known: readonly string[]): string {
  if (key === '<<')
    return 'is an unknown key; merge keys are not supported, an alias can stand for a whole value';
  const hint = meant === undefined ? `known here: ${known.join(', ')}` : `did you mean ${meant}?`;
  return `is an unknown key; ${hint}`;
}

/** Whether a Type names another component, of whose fields nothing is known, and is no slip in the name of ours. */
function isForeignComponent(type: unknown): boolean {
  return typeof type === 'string' && type !== COMPONENT_TYPE && nearest(type, [COMPONENT_TYPE]) === undefined;
}

/** Whether ours is meant, whatever the Type says. */
function hasConfigOfOurs({ children }: TreeNode): boolean {
  const config = children.get('Config')?.children;
  return config !== undefined && ['MetricCollector', 'Scheduler'].some((key) => config.has(key));
}

type Issue = z.core.$ZodIssue;

/** A value may break several checks of one rule: the rule is said once. */
function firstIssue(schema: z.core.$ZodType, value: unknown): Issue | undefined {
  return z.safeParse(schema, value).error?.issues[0];
}

function wrong(issue: Issue, { path, value }: TreeNode, isHidden: boolean): string {
  const subject = path.length === 0 ? 'the file is' : 'is';
  const shown = isHidden ? hideValue(value) : showValue(value);
  return `${subject} ${shown}, but must be ${issue.message}${advice(issue, value)}${shortInterval(path, value)}`;
}

/** A field of its own is for what is below a second. */
function shortInterval(path: Path, value: unknown): string {
  if (path.at(-1) !== 'Interval' || typeof value !== 'number' || !(value > 0 && value < 1)) return '';
  const milliseconds = Math.max(INTERVAL_MS.min, Math.min(INTERVAL_MS.max, Math.round(value * 1000)));
  return `; below a second write IntervalMilliseconds: ${milliseconds} in its place`;
}

function advice(issue: Issue, value: unknown): string {
  if (typeof value !== 'string') return '';
  if (issue.code === 'invalid_value') {
    const meant = nearest(value, issue.values.map(String));
    return meant === undefined ? '' : `; did you mean ${meant}?`;
  }
  if (issue.code !== 'invalid_type' || (issue.expected !== 'number' && issue.expected !== 'int')) return '';
  if (/^[-+]?0\d/.test(value)) return '; write it without leading zeros';
  return /^[-+]?\d+(\.\d+)?$/.test(value) ? '; write it without quotes' : '';
}
