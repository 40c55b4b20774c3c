import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import type { AuthorizationRule, ListenAddress } from '../../../src/core/model/configuration.ts';
import type { TlsSettings } from '../../../src/xds/tls-front.ts';
import { TestCa } from '../pki.ts';
import { RawConnection } from '../raw-grpc.ts';
import { RawHttp2 } from '../raw-http2.ts';
import { XdsClient } from '../xds-client.ts';

/** What a client needs for TLS. */
interface Papered {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The way to a server for one kind of client. */
export interface Door {
  readonly address: ListenAddress;
  /** undefined: plain text. */
  readonly tls: Papered | undefined;
}

export function clientAt({ address, tls }: Door): XdsClient {
  if (tls === undefined) return new XdsClient(address);
  const security = credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
  return new XdsClient(address, security);
}

export function connectionAt({ address, tls }: Door): RawConnection {
  return new RawConnection(address, tls);
}

export function http2At({ address, tls }: Door): RawHttp2 {
  return new RawHttp2(address, tls);
}

/** Certificates in a folder of their own: the server's, and one for each of two clients of which one may see little. */
export class Papers {
  readonly rules: readonly AuthorizationRule[] = [
    { identity: 'spiffe://test/honest', serverGroups: 'all' },
    { identity: 'spiffe://test/hostile', serverGroups: ['b'] },
  ];
  readonly settings: TlsSettings;
  readonly honest: Papered;
  readonly hostile: Papered;
  readonly #folder: string;

  static async issue(): Promise<Papers> {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-siege-'));
    const ca = await TestCa.create();
    const server = await ca.issue({ ip: ['127.0.0.1'] });
    const files = { 'tls.crt': server.cert, 'tls.key': server.key, 'ca.crt': ca.cert };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const issue = async (name: string): Promise<Papered> => {
      const issued = await ca.issue({ uri: [`spiffe://test/${name}`] });
      return { ...issued, ca: ca.cert };
    };
    return new Papers(folder, await issue('honest'), await issue('hostile'));
  }

  private constructor(folder: string, honest: Papered, hostile: Papered) {
    this.#folder = folder;
    this.honest = honest;
    this.hostile = hostile;
    this.settings = {
      files: {
        certFile: join(folder, 'tls.crt'),
        keyFile: join(folder, 'tls.key'),
        clientCaFile: join(folder, 'ca.crt'),
      },
      observer: {
        certificateTaken: () => undefined,
        certificateRefused: () => undefined,
        handshakeFailed: () => undefined,
      },
    };
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true });
  }
}
