import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { messageOf } from './errors.ts';
import type { FilesRead } from './reloaded-files.ts';
import { readSmallFile } from './small-file.ts';
import { printable } from './text.ts';

/** Files in PEM, by their paths. At most one of the two kinds of authorities. */
export interface CredentialFiles {
  /** The own certificate, followed by the intermediate ones. Both or none of this and `keyFile`. */
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** Authorities that client certificates must come from; undefined: clients need none. */
  readonly clientCaFile?: string | undefined;
  /** Authorities that server certificates must come from; undefined: those that Node brings along. */
  readonly caFile?: string | undefined;
}

/** What one side of TLS needs, checked: the key is the certificate's, and everything can be used. */
export interface Credentials {
  /** In PEM, as the other two; undefined as `key` is: this side shows no certificate. */
  readonly cert: string | undefined;
  readonly key: Buffer | undefined;
  /** The authorities of the other side's certificates, one certificate each; undefined: none were named. */
  readonly ca: readonly string[] | undefined;
  /** From when until when every certificate of `cert` is valid. */
  readonly validMs: Validity;
  /** From when until when each authority of `ca` is. */
  readonly caValidMs: readonly Validity[];
}

/** Unix time in milliseconds. */
export type Validity = readonly [from: number, until: number];

/** A file that is no good: the field that names it, and why. */
class Defect extends Error {
  constructor(field: string, path: string, reason: string) {
    super(`${field} ${printable(path)}: ${reason}`);
  }
}

/** The authorities among the files: the field that names them, and the path. */
export function authoritiesOf({
  clientCaFile,
  caFile,
}: CredentialFiles): { readonly field: string; readonly path: string } | undefined {
  if (clientCaFile !== undefined) return { field: 'ClientCaFile', path: clientCaFile };
  return caFile === undefined ? undefined : { field: 'CaFile', path: caFile };
}

/** Reads and checks the files. A reason names the field and the file, never what is in it. */
export async function readCredentials(files: CredentialFiles): Promise<FilesRead<Credentials>> {
  const digest = createHash('sha256');
  const read = async (field: string, path: string): Promise<Buffer> => {
    const bytes = await readPart(field, path);
    digest.update(`${field} ${bytes.byteLength} `).update(bytes);
    return bytes;
  };
  const { certFile, keyFile } = files;
  const authorities = authoritiesOf(files);
  try {
    const cert = certFile === undefined ? undefined : await read('CertFile', certFile);
    const key = keyFile === undefined ? undefined : await read('KeyFile', keyFile);
    const ca = authorities && (await read(authorities.field, authorities.path));
    const own = cert && key && checkOwn(files, cert, key);
    const value = { ...(own ?? NONE_OF_ITS_OWN), ...checkAuthorities(authorities, ca) };
    checkUse(files, value);
    return { kind: 'good', digest: digest.digest('hex'), value };
  } catch (error) {
    const reason = messageOf(error);
    return { kind: 'bad', digest: digest.update(reason).digest('hex'), reason };
  }
}

async function readPart(field: string, path: string): Promise<Buffer> {
  try {
    return await readSmallFile(path);
  } catch (error) {
    throw new Defect(field, path, messageOf(error));
  }
}

type Own = Pick<Credentials, 'cert' | 'key' | 'validMs'>;
type Authorities = Pick<Credentials, 'ca' | 'caValidMs'>;

const NONE_OF_ITS_OWN: Own = {
  cert: undefined,
  key: undefined,
  validMs: [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
};

function checkOwn({ certFile = '', keyFile = '' }: CredentialFiles, certBytes: Buffer, key: Buffer): Own {
  const blocks = certificatesIn(certBytes, 'CertFile', certFile);
  const chain = blocks.map((block) => parse(block, 'CertFile', certFile));
  const privateKey = privateKeyIn(key, keyFile);
  if (chain[0]?.checkPrivateKey(privateKey) !== true) {
    throw new Defect('KeyFile', keyFile, 'is not the key of the first certificate in CertFile');
  }
  const valid = chain.map((one) => validityOf(one, 'CertFile', certFile));
  return {
    cert: blocks.join('\n'),
    key,
    validMs: [Math.max(...valid.map(([from]) => from)), Math.min(...valid.map(([, until]) => until))],
  };
}

function checkAuthorities(
  named: { readonly field: string; readonly path: string } | undefined,
  bytes: Buffer | undefined,
): Authorities {
  if (named === undefined || bytes === undefined) return { ca: undefined, caValidMs: [] };
  const ca = certificatesIn(bytes, named.field, named.path);
  const authorities = ca.map((block) => parse(block, named.field, named.path));
  return { ca, caValidMs: authorities.map((one) => validityOf(one, named.field, named.path)) };
}

/** OpenSSL takes them all together. */
function checkUse(files: CredentialFiles, { cert, key, ca }: Own & Authorities): void {
  try {
    createSecureContext({ cert, key, ...(ca === undefined ? {} : { ca: [...ca] }) });
  } catch (error) {
    const [field, path] =
      files.certFile === undefined
        ? [authoritiesOf(files)?.field ?? '', authoritiesOf(files)?.path ?? '']
        : ['CertFile', files.certFile];
    throw new Defect(field, path, `cannot be used: ${messageOf(error)}`);
  }
}

function validityOf({ validFrom, validTo }: X509Certificate, field: string, path: string): Validity {
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)];
  if (Number.isNaN(from + until)) throw new Defect(field, path, 'has a validity that cannot be read');
  return [from, until];
}

/** At least one; a file of which the end is missing has none. */
function certificatesIn(pem: Buffer, field: string, path: string): readonly string[] {
  const text = pem.toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0 || blocks.length !== text.match(/-----BEGIN CERT/g)?.length) {
    throw new Defect(field, path, 'holds no certificate in PEM, or is cut off');
  }
  return blocks;
}

function parse(block: string, field: string, path: string): X509Certificate {
  try {
    return new X509Certificate(block);
  } catch {
    throw new Defect(field, path, 'holds a certificate that cannot be read');
  }
}

function privateKeyIn(pem: Buffer, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Defect('KeyFile', path, 'holds no private key in PEM that can be read without a passphrase');
  }
}
