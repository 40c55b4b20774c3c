/** Why there is no TLS with the other side: its certificate, ours, or what it speaks. */
export class TlsError extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    super(tlsReason(cause), { cause });
  }
}

/** Whether an error of a TLS socket is of TLS; else it is of the connection under it, or our own. */
export function isOfTls({ code, syscall }: NodeJS.ErrnoException): boolean {
  if (code === undefined || code === 'ECONNRESET') return false;
  return syscall === undefined || code === 'EPROTO';
}

/** Whether an error of a TLS socket that was open is what the other side, or OpenSSL, ended it for. */
export function isAlert({ code }: NodeJS.ErrnoException): boolean {
  return code?.startsWith('ERR_SSL_') === true;
}

/** What an error of TLS means: OpenSSL's messages have numbers and places in its source around that. */
export function tlsReason(error: NodeJS.ErrnoException & { readonly reason?: string }): string {
  if (!isAlert(error)) return error.message;
  const reason = error.reason ?? error.message;
  return PLAIN.has(error.code ?? '') ? `${reason}, as of a server without TLS` : reason;
}

const PLAIN: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);
