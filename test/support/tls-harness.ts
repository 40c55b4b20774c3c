import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import type { AuthorizationRule, ListenAddress, TlsFiles } from '../../src/core/model/configuration.ts';
import { SnapshotStore } from '../../src/publish/snapshot-store.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { PermittedSources } from '../../src/xds/permitted-sources.ts';
import { XdsServer } from '../../src/xds/server.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import { type Issued, TestCa } from './pki.ts';
import { XdsClient } from './xds-client.ts';
import { xdsObserver } from './xds-observer.ts';
import { xdsSettings } from './xds-settings.ts';

export interface TlsHarnessOptions {
  readonly rules?: readonly AuthorizationRule[];
  readonly clock?: Clock;
  /** Whether clients need a certificate; default true. */
  readonly clientCa?: boolean;
}

/** An xDS server behind TLS, its certificates in a folder of its own, and clients with certificates or without. */
export class TlsHarness {
  readonly ca: TestCa;
  readonly folder: string;
  readonly store = new SnapshotStore();
  readonly log: Record<string, unknown>[] = [];
  readonly failures: string[] = [];
  taken = 0;
  refused = 0;
  address: ListenAddress = { host: '', port: 0 };
  readonly #server: XdsServer;
  readonly #clients = new Set<XdsClient>();

  static async start(options: TlsHarnessOptions = {}): Promise<TlsHarness> {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-tls-'));
    const harness = new TlsHarness(folder, await TestCa.create(), options);
    await writeFile(join(folder, 'ca.crt'), harness.ca.cert);
    await harness.install(await harness.ca.issue({ ip: ['127.0.0.1'] }));
    harness.address = await harness.#server.listen({ host: '127.0.0.1', port: 0 });
    return harness;
  }

  private constructor(folder: string, ca: TestCa, options: TlsHarnessOptions) {
    this.folder = folder;
    this.ca = ca;
    const files: TlsFiles = {
      certFile: join(folder, 'tls.crt'),
      keyFile: join(folder, 'tls.key'),
      clientCaFile: options.clientCa === false ? undefined : join(folder, 'ca.crt'),
    };
    const permitted = new PermittedSources(options.rules);
    this.#server = new XdsServer({
      services: XDS_SERVICES,
      sourceOf: (_node, _kind, identities) => permitted.of(this.store, identities),
      settings: xdsSettings(),
      tls: {
        files,
        observer: {
          certificateTaken: () => this.taken++,
          certificateRefused: () => this.refused++,
          handshakeFailed: (reason) => this.failures.push(reason),
        },
      },
      clock: options.clock ?? systemClock,
      log: pino(
        { base: null },
        { write: (line) => this.log.push(JSON.parse(line) as Record<string, unknown>) },
      ),
      observer: xdsObserver(),
    });
  }

  /** Puts the server's certificate and key in place. */
  async install({ cert, key }: Issued): Promise<void> {
    await writeFile(join(this.folder, 'tls.crt'), cert);
    await writeFile(join(this.folder, 'tls.key'), key);
  }

  /** @param issued the client's certificate; undefined: none. */
  client(issued?: Issued, ca = this.ca): XdsClient {
    const own = issued && { key: Buffer.from(issued.key), cert: Buffer.from(issued.cert) };
    const security = credentials.createSsl(Buffer.from(ca.cert), own?.key, own?.cert);
    const client = new XdsClient(this.address, security);
    this.#clients.add(client);
    return client;
  }

  /** Closes the clients: one that was turned away would come again and again. */
  closeClients(): void {
    for (const client of this.#clients) client.close();
    this.#clients.clear();
  }

  async stop(): Promise<void> {
    this.closeClients();
    await this.#server.stop();
    await rm(this.folder, { recursive: true });
  }
}
