import { isDeepStrictEqual } from 'node:util';
import { shortened } from '../runtime/shortened.ts';
import { printable } from '../runtime/text.ts';
import { formatPath, type Path, showValue } from './mistake.ts';
import type { ConfigurationInput } from './schema.ts';
import { isSecret } from './secrets.ts';

const CHANGES_MAX = 50;

/**
 * What is different between two effective files, a line each in the order of the file:
 * `ServerGroups[llama].Servers[10.0.3.11:8000].Weight: 100 → 50`. No secret is in it. Beyond 50 the last line says how
 * many more there are. Items of a list are told apart by what names them, so that their order does not count.
 */
export function changesBetween(before: ConfigurationInput, after: ConfigurationInput): readonly string[] {
  return shortened([...changes([], before, after)], CHANGES_MAX);
}

function* changes(path: Path, before: unknown, after: unknown): Generator<string> {
  if (isDeepStrictEqual(before, after)) return;
  const [one, other] = [parts(before), parts(after)];
  if (one === undefined || other === undefined) {
    yield `${show(path)}${difference(path, before, after)}`;
    return;
  }
  for (const step of new Set([...one.keys(), ...other.keys()])) {
    yield* changes([...path, step], one.get(step), other.get(step));
  }
}

/** The children of a map or of a list of maps; undefined: it is one value. */
function parts(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (!isMap(value) && !(Array.isArray(value) && value.every(isMap))) return undefined;
  if (isMap(value)) return new Map(Object.entries(value));
  return new Map(value.map((item, index) => [`\0${nameOf(item) ?? index}`, item]));
}

function nameOf(item: Readonly<Record<string, unknown>>): string | undefined {
  const { Name: name, Identity: identity, Type: type, Address: address, Port: port } = item;
  if (typeof address === 'string' && name === undefined) return `${address}:${String(port)}`;
  return [name, identity, type].find((text) => typeof text === 'string');
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Steps into a list begin with a character that no key has. */
function show(path: Path): string {
  return path
    .map((step) => {
      const text = String(step);
      return text.startsWith('\0') ? `[${printable(text.slice(1), 100)}]` : formatPath(['', step]);
    })
    .join('')
    .replace(/^\./, '');
}

function difference(path: Path, before: unknown, after: unknown): string {
  if (before === undefined && parts(after) !== undefined) return ' is new';
  if (after === undefined && parts(before) !== undefined) return ' is gone';
  if (isSecret(path)) return ': another value';
  return `: ${showSide(before)} → ${showSide(after)}`;
}

function showSide(value: unknown): string {
  if (value === undefined) return 'not set';
  if (Array.isArray(value) && value.length > 0) return printable(JSON.stringify(value), 60);
  return showValue(value);
}
