import { readFile } from 'node:fs/promises';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';
import { readToken } from '../runtime/token-file.ts';

/** How a command reaches the admin address, as an operator says it. */
export interface AdminFlags {
  /** Where `serve` has its admin address. */
  readonly admin: string;
  /** A file in PEM with the authority of its certificate; undefined: those that the system trusts. */
  readonly ca?: string | undefined;
  /** A file with the token that it asks for. */
  readonly bearerTokenFile?: string | undefined;
}

/** The same, read. */
export interface AdminAccess {
  readonly url: URL;
  /** PEM */
  readonly ca: Buffer | undefined;
  readonly token: string | undefined;
}

export type ReadAccess =
  | { readonly kind: 'access'; readonly access: AdminAccess }
  /** `reason` names the flag. */
  | { readonly kind: 'bad'; readonly reason: string };

/** Reads what the flags name. */
export async function readAccess({ admin, ca, bearerTokenFile }: AdminFlags): Promise<ReadAccess> {
  const url = parseAdminUrl(admin);
  if (url === undefined) return bad(`--admin must be like http://127.0.0.1:9090, is ${printable(admin)}`);
  let authority: Buffer | undefined;
  try {
    authority = ca === undefined ? undefined : await readFile(ca);
  } catch (error) {
    return bad(`--ca ${printable(ca ?? '')}: cannot be read: ${printable(messageOf(error))}`);
  }
  if (bearerTokenFile === undefined) {
    return { kind: 'access', access: { url, ca: authority, token: undefined } };
  }
  const read = await readToken(bearerTokenFile);
  if (read.kind === 'bad') return bad(`--bearer-token-file ${printable(bearerTokenFile)}: ${read.reason}`);
  return { kind: 'access', access: { url, ca: authority, token: read.token } };
}

function bad(reason: string): ReadAccess {
  return { kind: 'bad', reason };
}

/** `http://HOST:PORT`, without the scheme too, and with a path when something stands in front; undefined: it is none. */
export function parseAdminUrl(text: string): URL | undefined {
  const full = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}
