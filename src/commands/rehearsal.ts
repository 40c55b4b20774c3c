import type { ServerGroup } from '../core/model/server-group.ts';
import { Publisher } from '../publish/publisher.ts';
import { SnapshotStore } from '../publish/snapshot-store.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { encoder, listenerEncoders } from '../xds/encoder.ts';
import { RehearsalClient } from '../xds/rehearsal-client.ts';
import { type XdsObserver, XdsServer } from '../xds/server.ts';
import { XDS_SERVICES } from '../xds/services.ts';
import type { XdsSettings } from '../xds/settings.ts';

const STREAMS = 50;
const PUSHES = 30;
const ENDPOINTS = 100;
const TIMEOUT_MS = 5_000;

const GROUP: ServerGroup = {
  name: 'rehearsal',
  mode: 'Active',
  envoyLbPolicy: 'LeastRequest',
  retryAfterSeconds: 1,
  outlierDetection: true,
  servers: [],
  loadAware: undefined,
};

/** Wide enough for the rehearsal, whatever real sidecars are allowed. */
const SETTINGS: XdsSettings = {
  limits: {
    streams: 1000,
    streamsPerIdentity: 1000,
    streamsPerConnection: 100,
    names: 1000,
    nameLength: 512,
    messageBytes: 1024 * 1024,
    requestsPerSecond: 1e6,
    newStreamsPerSecond: 1e6,
    readSeconds: 60,
    ackSeconds: 60,
  },
  keepalive: { intervalSeconds: 30, timeoutSeconds: 10 },
  maxConnectionAgeSeconds: undefined,
};

const ignore = (): void => undefined;
const OBSERVER: XdsObserver = {
  identified: ignore,
  streamOpened: ignore,
  streamClosed: ignore,
  sent: ignore,
  acknowledged: ignore,
  rejected: ignore,
  unsubscribed: ignore,
  unknownType: ignore,
  unknownName: ignore,
  refused: ignore,
};

/**
 * Publishes to a few streams of its own on a loopback port, so that the code of a push and its acknowledgements is
 * compiled when the first sidecars come: after a start they all come at once, and the first pushes would cost two to three times
 * what later ones do. What it cannot do in 5 s it leaves out; everything works without.
 */
export async function rehearse(clock: Clock, settings = SETTINGS): Promise<void> {
  const store = new SnapshotStore();
  const server = new XdsServer({
    services: XDS_SERVICES,
    sourceOf: () => store,
    settings,
    clock,
    log: silentLogger,
    observer: OBSERVER,
  });
  const play = new Play(store);
  const over = new AbortController();
  try {
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    await Promise.race([play.perform(port), sleep(clock, TIMEOUT_MS, over.signal)]);
  } catch {
    // there is no loopback address: the first sidecars find the code cold
  } finally {
    over.abort();
    play.end();
    await server.stop();
  }
}

/** One server group, and the clients that follow it. */
class Play {
  readonly #publisher: Publisher;
  #clients: readonly RehearsalClient[] = [];
  #version = '';
  #behind = 0;
  #allHaveIt: () => void = ignore;

  constructor(store: SnapshotStore) {
    this.#publisher = new Publisher(encoder, [{ store, listener: listenerEncoders.aggregated }]);
    this.#publisher.configure([GROUP], [], 0);
  }

  /** Resolves when each client has had each push. */
  async perform(port: number): Promise<void> {
    this.#clients = Array.from({ length: STREAMS }, (_, index) => this.#client(port, index));
    for (let push = 0; push < PUSHES; push++) await this.#push(push);
  }

  end(): void {
    for (const client of this.#clients) client.close();
  }

  #client(port: number, index: number): RehearsalClient {
    return new RehearsalClient({
      port,
      variant: index % 2 === 0 ? 'delta' : 'sotw',
      name: GROUP.name,
      onVersion: (version) => {
        if (version === this.#version && --this.#behind === 0) this.#allHaveIt();
      },
    });
  }

  #push(number: number): Promise<void> {
    const endpoints = Array.from({ length: ENDPOINTS }, (_, index) => ({
      address: `10.0.0.${index}`,
      port: 8000,
      weight: 1 + number + index,
      health: 'HEALTHY' as const,
    }));
    this.#behind = STREAMS;
    return new Promise((resolve) => {
      this.#allHaveIt = resolve;
      this.#version = this.#publisher.publish({ serverGroup: GROUP.name, endpoints, dropShare: 0 }).version;
    });
  }
}
