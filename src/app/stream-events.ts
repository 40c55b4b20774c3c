import type { Metrics } from '../admin/metrics.ts';
import type { Sidecars } from '../admin/sidecars.ts';
import type { Balancer } from '../publish/balancer.ts';
import { printable } from '../runtime/text.ts';
import type { Acknowledgement, ClientIdentity, Rejection, XdsObserver } from '../xds/observer.ts';
import type { LimitName } from '../xds/refusal.ts';
import { TYPE_URLS } from '../xds/resources/type-urls.ts';
import type { VariantName } from '../xds/response-cache.ts';

const NO_VERSIONS: ReadonlyMap<string, string> = new Map();
/** Names of a refused response that are shown. */
const NAMES_SHOWN = 10;

/** Hands what happens on the streams of sidecars to metrics, page and balancer. */
export class StreamEvents implements XdsObserver {
  readonly #metrics: Metrics;
  readonly #sidecars: Sidecars;
  readonly #balancer: Balancer;
  #endpointStreams = 0;

  constructor(options: {
    readonly metrics: Metrics;
    readonly sidecars: Sidecars;
    readonly balancer: Balancer;
  }) {
    this.#metrics = options.metrics;
    this.#sidecars = options.sidecars;
    this.#balancer = options.balancer;
  }

  /** Open streams on which sidecars may ask for endpoints. */
  get endpointStreams(): number {
    return this.#endpointStreams;
  }

  streamOpened(service: string, variant: VariantName): void {
    this.#metrics.streamOpened(service, variant);
    if (tellsEndpoints(service)) this.#endpointStreams++;
  }

  identified(stream: object, client: ClientIdentity): void {
    this.#sidecars.joined(stream, client);
  }

  streamClosed(service: string, variant: VariantName, stream: object): void {
    this.#sidecars.left(stream);
    this.#metrics.streamClosed(service, variant);
    if (tellsEndpoints(service)) this.#endpointStreams--;
    this.#balancer.left(stream);
  }

  sent(typeUrl: string, bytes: number): void {
    this.#metrics.sent(typeUrl, bytes);
  }

  acknowledged(acknowledgement: Acknowledgement): void {
    const { typeUrl, resources, stream } = acknowledgement;
    this.#metrics.acknowledged(typeUrl);
    const versions = typeUrl === TYPE_URLS.endpoint ? resources : NO_VERSIONS;
    this.#sidecars.acknowledged(stream, typeUrl, versions);
    if (typeUrl !== TYPE_URLS.endpoint) return;
    for (const [name, version] of resources) {
      this.#balancer.acknowledged(name, version, acknowledgement);
    }
  }

  rejected({ typeUrl, node, stream, resources, message }: Rejection): void {
    this.#metrics.rejected(typeUrl, node);
    const names = [...resources.keys()].slice(0, NAMES_SHOWN).join(' ');
    this.#sidecars.rejected(stream, typeUrl, printable(names), message);
    if (typeUrl !== TYPE_URLS.endpoint) return;
    for (const [name, version] of resources) this.#balancer.rejected(name, version, stream);
  }

  unsubscribed(stream: object, typeUrl: string, names: readonly string[]): void {
    if (typeUrl !== TYPE_URLS.endpoint) return;
    this.#sidecars.unsubscribed(stream, names);
    for (const name of names) this.#balancer.unsubscribed(name, stream);
  }

  unknownName(typeUrl: string): void {
    this.#metrics.unknownName(typeUrl);
  }

  unknownType(): void {
    this.#metrics.unknownType();
  }

  refused(limit: LimitName): void {
    this.#metrics.refused(limit);
  }
}

/** Whether sidecars may ask for endpoints on streams of this service. */
function tellsEndpoints(service: string): boolean {
  return service === 'ads' || service === 'eds';
}
