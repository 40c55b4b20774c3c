// oxlint-disable-next-line import/no-unassigned-import -- what the certificate library is built on
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralNames,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

cryptoProvider.set(webcrypto);

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** A certificate and its private key, as the files of an operator have them. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

export interface Wanted {
  readonly dns?: readonly string[];
  readonly uri?: readonly string[];
  readonly ip?: readonly string[];
  /** Hours from this moment on; default an hour ago until in a day. */
  readonly validHours?: readonly [from: number, until: number];
  /** What it may be used for; default both. */
  readonly usage?: 'server' | 'client';
}

/** A certificate authority of a test: keys on P-256, made in a millisecond. */
export class TestCa {
  readonly cert: string;
  readonly #name: string;
  readonly #keys: webcrypto.CryptoKeyPair;

  static async create(name = 'CN=test CA', validHours: Wanted['validHours'] = [-1, 24]): Promise<TestCa> {
    const keys = await newKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      name,
      ...validity(validHours),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [new BasicConstraintsExtension(true, undefined, true)],
    });
    return new TestCa(`${certificate.toString('pem')}\n`, name, keys);
  }

  private constructor(cert: string, name: string, keys: webcrypto.CryptoKeyPair) {
    this.cert = cert;
    this.#name = name;
    this.#keys = keys;
  }

  async issue(wanted: Wanted = {}): Promise<Issued> {
    const keys = await newKeys();
    const names = namesOf(wanted);
    const certificate = await X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      issuer: this.#name,
      subject: 'CN=test',
      ...validity(wanted.validHours ?? [-1, 24]),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      extensions: [
        new BasicConstraintsExtension(false),
        new ExtendedKeyUsageExtension(usagesOf(wanted)),
        ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
      ],
    });
    return { cert: `${certificate.toString('pem')}\n`, key: await privateKeyPem(keys) };
  }
}

function namesOf({ dns = [], uri = [], ip = [] }: Wanted): JsonGeneralNames {
  return [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...uri.map((value) => ({ type: 'url' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ];
}

function usagesOf({ usage }: Wanted): ExtendedKeyUsage[] {
  const usages = { server: ExtendedKeyUsage.serverAuth, client: ExtendedKeyUsage.clientAuth };
  return usage === undefined ? Object.values(usages) : [usages[usage]];
}

function validity([from, until]: readonly [number, number]): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now + from * HOUR_MS), notAfter: new Date(now + until * HOUR_MS) };
}

function serialNumber(): string {
  return `01${randomBytes(8).toString('hex')}`;
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function privateKeyPem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey)).toString('base64');
  const lines = pkcs8.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n');
}
