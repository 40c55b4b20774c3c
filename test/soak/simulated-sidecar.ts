import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import type { ReceivedResponse } from '../support/discovery-response.ts';
import { sharesOf } from './shares.ts';
import { XdsClient, type XdsTestStream } from '../support/xds-client.ts';

export interface SidecarSettings {
  readonly port: number;
  readonly serverGroup: string;
  readonly id: string;
  /** Delta, or state of the world. */
  readonly variant: 'delta' | 'sotw';
}

/** As an Envoy with the bootstrap of Plimsoll backs off. */
const BACK_MS = { first: 200, most: 2_000 } as const;

/**
 * What an Envoy does on its stream to the control plane, and nothing more: asks for clusters and for the endpoints of a
 * group, takes or refuses every response, and comes back when the stream ends.
 */
export class SimulatedSidecar {
  readonly #settings: SidecarSettings;
  #client: XdsClient | undefined;
  #stream: XdsTestStream | undefined;
  #waitMs: number = BACK_MS.first;
  #timer: NodeJS.Timeout | undefined;
  #assignment: Buffer | undefined;
  /** Refuses whatever comes. */
  refuses = false;
  served = false;
  streams = 0;
  responses = 0;

  constructor(settings: SidecarSettings) {
    this.#settings = settings;
  }

  /** What it would send to each backend, `HOST:PORT`, over what each had if all were equal. */
  get shares(): ReadonlyMap<string, number> {
    return this.#assignment === undefined ? new Map<string, number>() : sharesOf(this.#assignment);
  }

  connect(): void {
    const { port, serverGroup, id, variant } = this.#settings;
    this.#client = new XdsClient({ host: '127.0.0.1', port });
    const stream = this.#client.open('ads', variant);
    this.#stream = stream;
    this.streams++;
    stream.onResponse = (response) => {
      this.#take(stream, response);
    };
    stream.onEnd = () => {
      if (this.#stream === stream) this.#comeBack();
    };
    const node = { id, cluster: 'soak' };
    stream.send({ typeUrl: TYPE_URLS.cluster, node });
    stream.send({
      typeUrl: TYPE_URLS.endpoint,
      ...(variant === 'delta' ? { resourceNamesSubscribe: [serverGroup] } : { resourceNames: [serverGroup] }),
    });
  }

  /** Ends the connection, and makes another one at once. */
  reconnect(): void {
    this.#leave();
    this.connect();
  }

  #take(stream: XdsTestStream, response: ReceivedResponse): void {
    // kept for a test that looks at them: nobody does here
    stream.responses.length = 0;
    this.responses++;
    this.served ||= response.typeUrl === TYPE_URLS.endpoint;
    this.#waitMs = BACK_MS.first;
    const names = response.typeUrl === TYPE_URLS.endpoint ? [this.#settings.serverGroup] : [];
    const [resource] = response.resources;
    if (resource?.typeUrl === TYPE_URLS.endpoint && !this.refuses) this.#assignment = resource.value;
    if (this.refuses) stream.reject(response, 'refused on purpose', names);
    else stream.acknowledge(response, names);
  }

  #comeBack(): void {
    this.#leave();
    this.#timer = setTimeout(() => {
      this.connect();
    }, this.#waitMs);
    this.#waitMs = Math.min(BACK_MS.most, 2 * this.#waitMs);
  }

  #leave(): void {
    clearTimeout(this.#timer);
    this.served = false;
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.cancel();
    this.#client?.close();
  }
}
