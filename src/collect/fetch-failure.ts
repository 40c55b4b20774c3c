import { errors } from 'undici';
import type { CollectFailure, CollectFailureKind } from '../core/model/collection.ts';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { TlsError, tlsReason } from './tls-error.ts';

/** By the code of an error of the operating system or of undici. */
const KINDS: ReadonlyMap<string, CollectFailureKind> = new Map([
  ['ECONNREFUSED', 'refused'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
  ['EHOSTDOWN', 'unreachable'],
  ['ENETDOWN', 'unreachable'],
  ['EADDRNOTAVAIL', 'unreachable'],
  ['EAFNOSUPPORT', 'unreachable'],
  ['EACCES', 'unreachable'],
  ['EPERM', 'unreachable'],
  ['EINVAL', 'unreachable'],
  ['ETIMEDOUT', 'timeout'],
  ['ECONNRESET', 'reset'],
  ['ECONNABORTED', 'reset'],
  ['EPIPE', 'reset'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'too_large'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too_large'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'protocol'],
]);

/** The reason for which a request ended, from what was thrown. */
export function fetchFailure(thrown: unknown): CollectFailure {
  const code = codeOf(thrown);
  const kind = kindOf(thrown, code);
  const message = thrown instanceof Error && kind === 'tls' ? tlsReason(thrown) : messageOf(thrown);
  return { kind, message: messageFor(kind, code, printable(message)) };
}

function kindOf(thrown: unknown, code: string): CollectFailureKind {
  if (thrown instanceof TlsError || code.startsWith('ERR_SSL_')) return 'tls';
  if (thrown instanceof errors.HTTPParserError) return 'protocol';
  // undici has one code for a connection that was closed and for answers that make no sense.
  if (thrown instanceof errors.SocketError) return /closed/.test(thrown.message) ? 'reset' : 'protocol';
  return KINDS.get(code) ?? 'internal';
}

function messageFor(kind: CollectFailureKind, code: string, message: string): string {
  switch (kind) {
    case 'refused':
      return 'refused';
    case 'unreachable':
      return `unreachable: ${code}`;
    case 'reset':
      return `reset: ${message}`;
    case 'timeout':
      return `timeout: ${message}`;
    case 'tls':
      return `TLS: ${message}`;
    case 'too_large':
      return `too large: ${code === 'UND_ERR_HEADERS_OVERFLOW' ? 'headers beyond 16 KiB' : 'more than 8 MiB'}`;
    case 'protocol':
      return `not HTTP/1.1: ${message}`;
    case 'credentials':
    case 'status':
    case 'not_metrics':
    case 'metric_absent':
    case 'not_a_number':
    case 'internal':
      return message;
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
}
