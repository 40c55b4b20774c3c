const LISTEN = "Plimsoll's Admin.Listen goes into --admin URL";

/** By the code of the error: what else the reason can be than a wrong address. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ...[
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
  ].map((code) => [code, '--ca FILE names the authority of its certificate'] as const),
  ['ERR_TLS_CERT_ALTNAME_INVALID', '--admin URL has to have a name of the certificate'],
  ['EPROTO', 'Without Admin.Tls the URL begins with http'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'Without Admin.Tls the URL begins with http'],
]);

const ADDRESS: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);

/** What an operator can do about an admin address that gives no answer; undefined: the reason says it all. */
export function adminHint(error: unknown, { protocol }: URL): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message } = error;
  const code = 'code' in error ? String(error.code) : '';
  // a server with TLS does not understand, and ends the connection
  if (protocol === 'http:' && message === 'socket hang up') return 'With Admin.Tls the URL begins with https';
  return ADDRESS.has(code) || name === 'TimeoutError' ? LISTEN : HINTS.get(code);
}

/** Both as one text without its full stop. */
export function withHint(reason: string, hint: string | undefined): string {
  return hint === undefined ? reason : `${reason}. ${hint}`;
}
