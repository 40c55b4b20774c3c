import { z } from 'zod';
import { NAME_LENGTH, PORT } from '../core/limits.ts';
import { type Parsed, parseDestination, parseIp, parseListen } from './address.ts';

/*
 * The kinds of fields. The error of each is its rule, what a value must be: a mistake prints it after the value.
 */

/** Longest duration of ours. A day, and far below where timers overflow. */
const SECONDS_MAX = 86_400;

/** Strings of which one is meant, as `A, B or C`. */
export function alternatives(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1) ?? ''}`;
}

/** A map with these keys and no others. */
export function map<Shape extends z.core.$ZodLooseShape>(shape: Shape, rule = 'a map') {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : rule),
  });
}

export function list<Item extends z.core.SomeType>(item: Item, rule: string) {
  return z.array(item, { error: rule });
}

export function listOfAtLeastOne<Item extends z.core.SomeType>(item: Item, what: string) {
  const error = `a list of at least one ${what}`;
  return list(item, error).min(1, { error });
}

export function integer(min: number, max: number) {
  const error = `an integer ${min}..${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
}

export function number(min: number, max: number) {
  const error = `a number ${min}..${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error });
}

/** A duration in seconds, decimals allowed. */
export function seconds() {
  const error = `a number of seconds above 0, at most ${SECONDS_MAX}`;
  return z.number({ error }).positive({ error }).max(SECONDS_MAX, { error });
}

export function flag() {
  return z.boolean({ error: 'true or false' });
}

export function choice<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: alternatives(values) });
}

export function name() {
  const error = `${NAME_LENGTH.min}..${NAME_LENGTH.max} printable characters without space`;
  return z
    .string({ error })
    .min(NAME_LENGTH.min, { error })
    .max(NAME_LENGTH.max, { error })
    .regex(/^[^\p{C}\p{Z}]*$/u, { error });
}

/** The name of something that the file defines elsewhere; that it does is checked over the whole file. */
export function reference(what: string) {
  return z.string({ error: `the name of ${what}` });
}

export function port() {
  return integer(PORT.min, PORT.max);
}

/** A string that `parse` understands; the value is what it makes of it. */
function parsed<T>(rule: string, parse: (text: string) => Parsed<T>) {
  return z.string({ error: rule }).transform((text, context) => {
    const result = parse(text);
    if (result.kind === 'ok') return result.value;
    context.addIssue({ code: 'custom', message: `${rule}: ${result.reason}`, input: text });
    return z.NEVER;
  });
}

/** An IP literal to connect to, in canonical form. */
export function destination() {
  return parsed('an IP literal', parseDestination);
}

/** An IP literal to listen on, in canonical form. */
export function listenIp() {
  return parsed('an IP literal', parseIp);
}

/** HOST:PORT to listen on; the value is a ListenAddress. */
export function listen() {
  return parsed('an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000"', parseListen);
}

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const DOMAIN_NAME = `${LABEL}(?:\\.${LABEL})*`;

export function domainName() {
  const error = 'a domain name';
  return z
    .string({ error })
    .max(253, { error })
    .regex(new RegExp(`^${DOMAIN_NAME}$`), { error });
}

/** The path of a file, relative to the working directory if it is not absolute. */
export function filePath() {
  const error = 'the path of a file';
  return z
    .string({ error })
    .max(4096, { error })
    .regex(/^[^\0]+$/, { error });
}

/** Who a client is by its certificate. */
export function identity() {
  const error = 'a URI, which may end in /*, a domain name, or * for every client';
  const uri = '[A-Za-z][A-Za-z0-9+.-]*://(?:(?!\\*)[!-~])+(?:(?<=/)\\*)?';
  return z
    .string({ error })
    .max(2048, { error })
    .regex(new RegExp(`^(?:\\*|${uri}|${DOMAIN_NAME})$`), { error });
}

/** The path of a URL, with its query if it has one. */
export function urlPath() {
  const error = 'a path that starts with / and has only visible ASCII characters, no space';
  return z
    .string({ error })
    .max(2048, { error })
    .regex(/^\/[!-~]*$/, { error });
}
