import { pino } from 'pino';
import type { AuthorizationRule, ListenAddress, XdsLimits } from '../../src/core/model/configuration.ts';
import { type Snapshot, SnapshotStore } from '../../src/publish/snapshot-store.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { PermittedSources } from '../../src/xds/permitted-sources.ts';
import { XdsServer } from '../../src/xds/server.ts';
import { XDS_SERVICES } from '../../src/xds/services.ts';
import type { XdsSettings } from '../../src/xds/settings.ts';
import type { TlsSettings } from '../../src/xds/tls-front.ts';
import { snapshot } from './snapshots.ts';
import { xdsSettings } from './xds-settings.ts';

/** Knows how many follow it. */
class CountingStore extends SnapshotStore {
  followers = 0;

  override subscribe(listener: (snapshot: Snapshot) => void): () => void {
    this.followers++;
    const unsubscribe = super.subscribe(listener);
    return () => {
      this.followers--;
      unsubscribe();
    };
  }
}

/** An xDS server over real sockets, and what it told. */
export class XdsHarness {
  readonly store = new CountingStore();
  readonly server: XdsServer;
  readonly refused: string[] = [];
  readonly log: Record<string, unknown>[] = [];
  opened = 0;
  closed = 0;
  acknowledged = 0;
  rejected = 0;

  constructor(
    options: {
      readonly clock?: Clock;
      readonly settings?: XdsSettings;
      /** Default: plain text. */
      readonly tls?: TlsSettings | undefined;
      /** Default: everybody may see everything. */
      readonly rules?: readonly AuthorizationRule[] | undefined;
    } = {},
  ) {
    const permitted = new PermittedSources(options.rules);
    this.server = new XdsServer({
      services: XDS_SERVICES,
      sourceOf: (_node, _kind, identities) => permitted.of(this.store, identities),
      tls: options.tls,
      settings: options.settings ?? xdsSettings(),
      clock: options.clock ?? systemClock,
      log: pino(
        { base: null },
        { write: (line) => this.log.push(JSON.parse(line) as Record<string, unknown>) },
      ),
      observer: {
        streamOpened: () => this.opened++,
        identified: () => undefined,
        streamClosed: () => this.closed++,
        sent: () => undefined,
        acknowledged: () => this.acknowledged++,
        rejected: () => this.rejected++,
        unsubscribed: () => undefined,
        unknownType: () => undefined,
        unknownName: () => undefined,
        refused: (limit) => this.refused.push(limit),
      },
    });
  }

  /** One that serves a cluster, `c`. @param change of the other settings */
  static async limited(
    limits: Partial<XdsLimits>,
    change: Partial<XdsSettings> = {},
    clock = systemClock,
  ): Promise<{ readonly harness: XdsHarness; readonly address: ListenAddress }> {
    const harness = new XdsHarness({ clock, settings: { ...xdsSettings(limits), ...change } });
    harness.store.set(snapshot({ cluster: { c: '1' } }));
    return { harness, address: await harness.listen() };
  }

  /** Streams that are open. */
  get streams(): number {
    return this.opened - this.closed;
  }

  listen(): Promise<ListenAddress> {
    return this.server.listen({ host: '127.0.0.1', port: 0 });
  }
}
