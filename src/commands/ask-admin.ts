import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';

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
  | { readonly kind: 'unreachable'; readonly reason: string };

/** `http://HOST:PORT`, without the scheme too, and with a path when something stands in front; undefined: it is none. */
export function parseAdminUrl(text: string): URL | undefined {
  const full = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

/**
 * Gets a page of the admin address.
 * @param path is sent as it is, so that no `..` in it is taken for a folder
 */
export async function askAdmin(url: URL, path: string, limits = LIMITS): Promise<AdminAnswer> {
  const signal = AbortSignal.timeout(limits.milliseconds);
  try {
    const { status, text } = await fetchText(url, path, limits.bytes, signal);
    return { kind: 'answer', status, body: parseJson(text) };
  } catch (error) {
    const late = `no whole answer within ${limits.milliseconds / 1000} s`;
    return { kind: 'unreachable', reason: signal.aborted ? late : printable(reasonOf(error)) };
  }
}

async function fetchText(url: URL, path: string, bytes: number, signal: AbortSignal) {
  const response = await open(url, path, signal);
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

function open(url: URL, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  const get = url.protocol === 'https:' ? httpsGet : httpGet;
  const options = {
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? undefined : url.port,
    path: url.pathname.replace(/\/+$/, '') + path,
    headers: { accept: 'application/json' },
    agent: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    get(options, resolve).once('error', reject);
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown) =>
      typeof value === 'string' ? printable(value, TEXT_MAX) : value,
    );
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  // a name that stands for several addresses, none of which answers
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  const message = messageOf(error);
  return message === 'aborted' ? 'the connection ended before the answer did' : message;
}
