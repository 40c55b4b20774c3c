import type { DnsDiscovery } from '../core/model/discovery.ts';
import type { Dns } from './dns-client.ts';
import { DnsMemory } from './dns-memory.ts';
import { ADDRESSES_MAX, type DnsReading, DnsRound, TOO_MANY } from './dns-round.ts';
import { backendsOf, chosen } from './dns-services.ts';

/** Reads what a name says, again and again, and keeps the answers for those that fail. */
export class DnsReader {
  readonly #settings: DnsDiscovery;
  readonly #memory = new DnsMemory();

  constructor(settings: DnsDiscovery) {
    this.#settings = settings;
  }

  /** @returns what all questions came to; never rejects unless `dns` does */
  async read(dns: Dns): Promise<DnsReading> {
    return this.#settings.type === 'SRV' ? this.#readServices(dns) : this.#readAddresses(dns);
  }

  async #readAddresses(dns: Dns): Promise<DnsReading> {
    // with this type there is a port
    const { name, port = 0 } = this.#settings;
    const round = new DnsRound(dns, this.#memory);
    await round.lookUp([name]);
    if (round.failure !== undefined) return { kind: 'failed', reason: round.failure };
    const list = round.addressesOf(name).map((address) => ({ address, port }));
    return round.reading(list, []);
  }

  async #readServices(dns: Dns): Promise<DnsReading> {
    const answer = await dns.services(this.#settings.name);
    if (answer.kind === 'failed') return answer;
    const { used, leftOut } = chosen(answer.kind === 'none' ? [] : answer.records);
    const targets = [...new Set(used.map(({ target }) => target))];
    const round = new DnsRound(dns, this.#memory);
    await round.lookUp(targets);
    this.#memory.keep(targets);
    if (round.failure !== undefined) return { kind: 'failed', reason: round.failure };
    const backends = backendsOf(used, (target) => round.addressesOf(target), ADDRESSES_MAX);
    if (backends === undefined) return { kind: 'failed', reason: TOO_MANY };
    return round.reading(backends.list, [...leftOut, ...backends.without]);
  }
}
