import { printable } from '../runtime/text.ts';
import { asBuffer } from './exposition.ts';
import { type Failed, failed } from './metric-values.ts';

const QUOTE = 0x22;
const GZIP = [0x1f, 0x8b];
/** Of UTF-8. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * The bytes of a page without what some servers put around it: a web framework that takes the page for any text
 * answers with it as a JSON string. No copy unless it is one.
 */
export function plainPage(bytes: Uint8Array): { readonly kind: 'page'; readonly page: Buffer } | Failed {
  const page = asBuffer(bytes);
  if (page[0] === QUOTE) return unquoted(page);
  if (beginsWith(page, GZIP)) return failed('protocol', 'gzip, where identity was asked for');
  return {
    kind: 'page',
    page: beginsWith(page, BYTE_ORDER_MARK) ? page.subarray(BYTE_ORDER_MARK.length) : page,
  };
}

/** So much of a page that is none of ours is told, and no more: it may have a token in it that we sent. */
const QUOTED_MAX = 20;

/** Why a page is none of metrics. */
export function notMetrics(page: Buffer): Failed {
  if (page.length === 0) return failed('not_metrics', 'not metrics: an empty page');
  const beginning = JSON.stringify(printable(page.toString('latin1', 0, 60).trim(), QUOTED_MAX));
  return failed('not_metrics', `not metrics: a page that begins with ${beginning}`);
}

function beginsWith(page: Buffer, bytes: readonly number[]): boolean {
  return bytes.every((byte, at) => page[at] === byte);
}

function unquoted(page: Buffer): ReturnType<typeof plainPage> {
  try {
    const text: unknown = JSON.parse(page.toString('utf8'));
    return typeof text === 'string' ? { kind: 'page', page: Buffer.from(text) } : notMetrics(page);
  } catch {
    return notMetrics(page);
  }
}
