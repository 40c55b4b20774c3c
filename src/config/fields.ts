import { z } from 'zod';
import { NAME_LENGTH, PORT } from '../core/limits.ts';
import { HEADER_VALUE_LENGTH_MAX, isHeaderValue } from '../runtime/header-value.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { type Parsed, parseDestination, parseIp } from '../runtime/ip-address.ts';
import { parseListen } from './address.ts';

/*
 * The kinds of fields. The error of each is its rule, what a value must be: a mistake prints it after the value, and the
 * reference tells it. `examples` are for the reference and for editors; a field may have its own in place of its kind's.
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
  return integer(PORT.min, PORT.max).meta({ examples: [8000] });
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
  return parsed('an IP literal', parseDestination).meta({ examples: ['10.0.3.11'] });
}

/** An IP literal to listen on, in canonical form. */
export function listenIp() {
  return parsed('an IP literal', parseIp).meta({ examples: ['0.0.0.0'] });
}

/** HOST:PORT to listen on; the value is a ListenAddress. */
export function listen() {
  const rule = 'an IP literal and a port, like 127.0.0.1:18000 or "[::1]:18000"';
  return parsed(rule, parseListen).meta({ examples: ['10.0.0.5:9090'] });
}

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const DOMAIN_NAME = `${LABEL}(?:\\.${LABEL})*`;

export function domainName() {
  const error = 'a domain name';
  return z
    .string({ error })
    .max(253, { error })
    .regex(new RegExp(`^${DOMAIN_NAME}$`), { error })
    .meta({ examples: ['vllm.example.com'] });
}

/** A name that DNS may be asked for: also one of SRV records, whose labels may begin with `_`. */
export function dnsName() {
  const error = 'a domain name, as vllm.example.com or _http._tcp.vllm.example.com';
  const label = '[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?';
  return z
    .string({ error })
    .max(253, { error })
    .regex(new RegExp(`^${label}(?:\\.${label})*\\.?$`), { error });
}

/** An address to ask DNS at: an IP literal and a port, in canonical form. */
export function resolver() {
  const parse = (text: string): Parsed<string> => {
    const address = parseListen(text);
    if (address.kind === 'bad') return address;
    const { host, port: to } = address.value;
    if (to === 0) return { kind: 'bad', reason: 'a port is 1..65535' };
    const destinationHost = parseDestination(host);
    return destinationHost.kind === 'bad'
      ? destinationHost
      : { kind: 'ok', value: formatHostPort(destinationHost.value, to) };
  };
  return parsed('an IP literal and a port, like 10.0.0.2:53 or "[fd00::2]:53"', parse).meta({
    examples: ['10.0.0.2:53'],
  });
}

/** A name of something in Kubernetes (RFC 1123). */
export function kubernetesName() {
  const error =
    'a name of Kubernetes: 1..253 of a-z, 0-9, - and ., beginning and ending with a letter or digit';
  return z
    .string({ error })
    .max(253, { error })
    .regex(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, { error });
}

/** Which pods are meant, by their labels; the API server understands it. */
export function podSelector() {
  const error = 'a label selector as kubectl has it, like app=vllm,model in (llama)';
  return (
    z
      .string({ error })
      // the pattern takes the square of the length
      .max(1024, { error, abort: true })
      .regex(/^[ !(),./=A-Za-z0-9_-]*[A-Za-z0-9][ !(),./=A-Za-z0-9_-]*$/, { error })
      .meta({ examples: ['app=vllm'] })
  );
}

/** The path of a file, relative to the working directory if it is not absolute. */
export function filePath() {
  const error = 'the path of a file';
  return z
    .string({ error })
    .max(4096, { error })
    .regex(/^[^\0]+$/, { error });
}

/** Fields of which no value is ever shown, neither that of a mistake nor that of an effective configuration. */
const SECRETS = new WeakSet<z.core.$ZodType>();

export function isSecret(field: z.core.$ZodType): boolean {
  return SECRETS.has(field);
}

const HEADER_NAME_RULE =
  'the name of a header: 1..256 letters, digits, hyphens and a few other signs, no space';

/** The name of a header of requests and answers. */
export function headerName() {
  return z
    .string({ error: HEADER_NAME_RULE })
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/, { error: HEADER_NAME_RULE });
}

/** Headers of a request by their names: each a value, or the file that holds it. */
export function headers() {
  const valueRule = `1..${HEADER_VALUE_LENGTH_MAX} visible ASCII characters, with spaces only between them, or {File: PATH}`;
  const file = map({
    File: filePath()
      .describe('File that holds the value; it is read again when it changes.')
      .meta({ examples: ['/var/run/secrets/metrics/key'] }),
  });
  const value = z.union([z.string().refine(isHeaderValue, { error: valueRule }), file], { error: valueRule });
  const all = z
    .record(headerName(), value, { error: 'a map of headers, {NAME: VALUE} or {NAME: {File: PATH}}' })
    .meta({ examples: [{ 'X-Scope-OrgID': 'llm', 'X-Api-Key': { File: '/var/run/secrets/metrics/key' } }] });
  SECRETS.add(value).add(all);
  return all;
}

/** Labels of a metric's series and their values. */
export function metricLabels() {
  const error = 'the name of a label: letters, digits and _, not beginning with a digit';
  const labelName = z.string({ error }).regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error });
  const value = z
    .string({ error: 'a text, in quotes if it is a number' })
    .max(1024, { error: 'at most 1024 characters' });
  return z
    .record(labelName, value, { error: 'a map of labels, {NAME: VALUE}' })
    .meta({ examples: [{ model_name: 'llama' }] });
}

/** The name of a metric, or with labels that its series must have. */
export function metric() {
  const error = 'the name of a metric: letters, digits, _ and :, not beginning with a digit';
  const metricName = z.string({ error }).regex(/^[A-Za-z_:][A-Za-z0-9_:]{0,255}$/, { error });
  const narrowed = map({
    Name: metricName
      .describe('Name of the metric, as it stands on the page.')
      .meta({ examples: ['my_queued_requests'] }),
    Labels: metricLabels().optional().describe('Only series with these labels count.'),
  });
  return z.union([metricName, narrowed], { error: `${error}; or {Name, Labels}` });
}

/** Who a client is by its certificate. */
export function identity() {
  const error = 'a URI, which may end in /*, a domain name, or * for every client';
  const uri = '[A-Za-z][A-Za-z0-9+.-]*://(?:(?!\\*)[!-~])+(?:(?<=/)\\*)?';
  return z
    .string({ error })
    .max(2048, { error })
    .regex(new RegExp(`^(?:\\*|${uri}|${DOMAIN_NAME})$`), { error })
    .meta({ examples: ['spiffe://cluster.local/ns/llama/*'] });
}

export const URL_PATH_RULE = 'a path that starts with / and has only visible ASCII characters, no space';

/** The path of a URL, with its query if it has one. */
export function urlPath() {
  const error = URL_PATH_RULE;
  return z
    .string({ error })
    .max(2048, { error })
    .regex(/^\/[!-~]*$/, { error })
    .meta({ examples: ['/metrics'] });
}
