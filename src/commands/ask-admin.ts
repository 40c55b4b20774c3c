import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import type { AdminAccess } from './admin-access.ts';
import { adminHint } from './admin-hint.ts';

export interface AskLimits {
  /** For the whole answer. */
  readonly milliseconds: number;
  readonly bytes: number;
}

/** Ten thousand backends have some 20 MiB. */
const LIMITS: AskLimits = { milliseconds: 10_000, bytes: 64 * 1024 * 1024 };
const TEXT_MAX = 1000;

export type AdminAnswer =
  /** `body`: JSON with every text in it printable and cut; undefined: it was none. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown }
  | {
      readonly kind: 'unreachable';
      readonly reason: string;
      /** What to do about it, as of Plimsoll's; undefined: the reason says it. */
      readonly hint: string | undefined;
    };

/**
 * Gets a page of the admin address.
 * @param path is sent as it is, so that no `..` in it is taken for a folder
 */
export async function askAdmin(access: AdminAccess, path: string, limits = LIMITS): Promise<AdminAnswer> {
  const signal = AbortSignal.timeout(limits.milliseconds);
  try {
    const { status, text } = await fetchText(access, path, limits.bytes, signal);
    return { kind: 'answer', status, body: parseAnswer(text) };
  } catch (error) {
    const late = `no whole answer within ${limits.milliseconds / 1000} s`;
    return {
      kind: 'unreachable',
      reason: signal.aborted ? late : printable(reasonOf(error)),
      hint: adminHint(signal.aborted ? signal.reason : error, access.url),
    };
  }
}

async function fetchText(access: AdminAccess, path: string, bytes: number, signal: AbortSignal) {
  const response = await openAdmin(access, path, signal);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    // leaving the loop ends the connection
    if (length > bytes) throw new Error(`the answer is longer than ${bytes} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') };
}

/** Resolves when the headers of the answer are there. @param path is sent as it is */
export function openAdmin(
  { url, ca, token }: AdminAccess,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const get = url.protocol === 'https:' ? httpsGet : httpGet;
  const options = {
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? undefined : url.port,
    path: url.pathname.replace(/\/+$/, '') + path,
    headers: {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(ca === undefined ? {} : { ca }),
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    get(options, resolve).once('error', reject);
  });
}

/** JSON with every text in it fit to be shown; undefined: it is none. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) =>
      typeof value === 'string' ? fit(value, key === 'yaml') : value,
    );
  } catch {
    return undefined;
  }
}

/** What an answer that is not 200 says of itself. */
export function errorIn({ status, body }: AdminAnswer & { readonly kind: 'answer' }): string {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  if (typeof error !== 'string') return "that is not Plimsoll's admin address, or an older one";
  return status === 401 ? `${error}; --bearer-token-file names a file with it` : error;
}

/** @param isPage lines are kept, however many */
function fit(text: string, isPage: boolean): string {
  if (!isPage) return printable(text, TEXT_MAX);
  return text
    .split('\n')
    .map((line) => printable(line, TEXT_MAX))
    .join('\n');
}

/** Why an answer did not come or broke off. */
export function reasonOf(error: unknown): string {
  // a name that stands for several addresses, none of which answers
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  const message = messageOf(error);
  // OpenSSL's own message has numbers and places in its source around that
  if (message.includes('wrong version number')) return 'it answered without TLS';
  return message === 'aborted' ? 'the connection ended before the answer did' : message;
}
