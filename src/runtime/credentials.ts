import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { messageOf } from './errors.ts';
import { printable } from './text.ts';

/** Files in PEM, by their paths. */
export interface CredentialFiles {
  /** The server's certificate, followed by the intermediate ones. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities that client certificates must come from; undefined: clients need none. */
  readonly clientCaFile: string | undefined;
}

/** What a TLS server needs, checked: the key is the certificate's, and everything can be used. */
export interface Credentials {
  /** In PEM, as the other two. */
  readonly cert: string;
  readonly key: Buffer;
  /** One certificate each; undefined: clients need none. */
  readonly clientCa: readonly string[] | undefined;
  /** From when until when every certificate of `cert` is valid. */
  readonly validMs: Validity;
  /** From when until when each authority of `clientCa` is. */
  readonly clientCaValidMs: readonly Validity[];
}

/** Unix time in milliseconds. */
export type Validity = readonly [from: number, until: number];

/** `digest` differs whenever any of the files does. */
export type ReadCredentials =
  | { readonly kind: 'good'; readonly digest: string; readonly credentials: Credentials }
  | { readonly kind: 'bad'; readonly digest: string; readonly reason: string };

const FILE_BYTES_MAX = 1024 * 1024;

/** A file that is no good: the field that names it, and why. */
class Defect extends Error {
  constructor(field: string, path: string, reason: string) {
    super(`${field} ${printable(path)}: ${reason}`);
  }
}

/** Reads and checks the files. A reason names the field and the file, never what is in it. */
export async function readCredentials(files: CredentialFiles): Promise<ReadCredentials> {
  const digest = createHash('sha256');
  const read = async (field: string, path: string): Promise<Buffer> => {
    const bytes = await readSmallFile(field, path);
    digest.update(`${field} ${bytes.byteLength} `).update(bytes);
    return bytes;
  };
  try {
    const cert = await read('CertFile', files.certFile);
    const key = await read('KeyFile', files.keyFile);
    const { clientCaFile } = files;
    const clientCa = clientCaFile === undefined ? undefined : await read('ClientCaFile', clientCaFile);
    const credentials = check(files, cert, key, clientCa);
    return { kind: 'good', digest: digest.digest('hex'), credentials };
  } catch (error) {
    const reason = messageOf(error);
    return { kind: 'bad', digest: digest.update(reason).digest('hex'), reason };
  }
}

async function readSmallFile(field: string, path: string): Promise<Buffer> {
  try {
    const found = await stat(path);
    // reading a pipe might never end
    if (found.isFile() && found.size <= FILE_BYTES_MAX) return await readFile(path);
    throw new Error(found.isFile() ? `it is larger than ${FILE_BYTES_MAX} bytes` : 'it is no regular file');
  } catch (error) {
    throw new Defect(field, path, `cannot be read: ${messageOf(error)}`);
  }
}

function check(
  { certFile, keyFile, clientCaFile }: CredentialFiles,
  certBytes: Buffer,
  key: Buffer,
  clientCaBytes: Buffer | undefined,
): Credentials {
  const blocks = certificatesIn(certBytes, 'CertFile', certFile);
  const chain = blocks.map((block) => parse(block, 'CertFile', certFile));
  const privateKey = privateKeyIn(key, keyFile);
  if (chain[0]?.checkPrivateKey(privateKey) !== true) {
    throw new Defect('KeyFile', keyFile, 'is not the key of the first certificate in CertFile');
  }
  const caFile = clientCaFile ?? '';
  const clientCa = clientCaBytes && certificatesIn(clientCaBytes, 'ClientCaFile', caFile);
  const authorities = (clientCa ?? []).map((block) => parse(block, 'ClientCaFile', caFile));
  const cert = blocks.join('\n');
  try {
    createSecureContext({ cert, key, ...(clientCa === undefined ? {} : { ca: [...clientCa] }) });
  } catch (error) {
    throw new Defect('CertFile', certFile, `cannot be used: ${messageOf(error)}`);
  }
  const valid = chain.map((one) => validityOf(one, 'CertFile', certFile));
  return {
    cert,
    key,
    clientCa,
    validMs: [Math.max(...valid.map(([from]) => from)), Math.min(...valid.map(([, until]) => until))],
    clientCaValidMs: authorities.map((one) => validityOf(one, 'ClientCaFile', caFile)),
  };
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
