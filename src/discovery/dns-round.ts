import { parseDestination } from '../runtime/ip-address.ts';
import { shortened } from '../runtime/shortened.ts';
import { printable } from '../runtime/text.ts';
import type { Found } from './discoverer.ts';
import type { Dns } from './dns-client.ts';
import type { DnsMemory } from './dns-memory.ts';

/** What one round of questions came to. */
export type DnsReading =
  | {
      readonly kind: 'list';
      readonly list: readonly Found[];
      readonly leftOut: readonly string[];
      /** The shortest time that a record may be kept; undefined: none says. */
      readonly ttlSeconds: number | undefined;
      /** Questions without an answer; what they were answered with last is in the list. */
      readonly failures: readonly string[];
      /** One of these never had an answer: the list may lack backends. */
      readonly isPartial: boolean;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** More than that are no fleet. */
export const ADDRESSES_MAX = 10_000;
export const TOO_MANY = `more than ${ADDRESSES_MAX} addresses`;
/** Names that are looked up at a time. */
const NAMES_AT_ONCE = 8;
/** Lines in a reason, and in what is left out. */
const LINES_MAX = 10;

/** One round of questions for addresses. */
export class DnsRound {
  readonly #dns: Dns;
  readonly #memory: DnsMemory;
  readonly #addresses = new Map<string, readonly string[]>();
  readonly #unusable = new Set<string>();
  #ttlSeconds: number | undefined;
  #count = 0;
  #isPartial = false;
  readonly #failures: string[] = [];
  /** Questions that were answered, with whatever. */
  #answered = 0;

  constructor(dns: Dns, memory: DnsMemory) {
    this.#dns = dns;
    this.#memory = memory;
  }

  /** Asks for both families of each name, a few names at a time, until there are too many addresses. */
  async lookUp(names: readonly string[]): Promise<void> {
    const waiting = names.values();
    const worker = async (): Promise<void> => {
      for (const name of waiting) {
        if (this.#count > ADDRESSES_MAX) return;
        await this.#lookUp(name);
      }
    };
    await Promise.all(Array.from({ length: NAMES_AT_ONCE }, worker));
  }

  /** What came of it when it came to no list: no answer at all, or too many addresses. */
  get failure(): string | undefined {
    if (this.#count > ADDRESSES_MAX) return TOO_MANY;
    return this.#answered === 0 && this.#failures.length > 0 ? lines(this.#failures).join('; ') : undefined;
  }

  /** In canonical form, each once. */
  addressesOf(name: string): readonly string[] {
    return this.#addresses.get(name) ?? [];
  }

  reading(list: readonly Found[], leftOut: readonly string[]): DnsReading {
    return {
      kind: 'list',
      list,
      leftOut: lines([...leftOut, ...this.#unusable]),
      ttlSeconds: this.#ttlSeconds,
      failures: lines(this.#failures),
      isPartial: this.#isPartial,
    };
  }

  async #lookUp(name: string): Promise<void> {
    const lists = await Promise.all(([4, 6] as const).map(async (family) => this.#ask(name, family)));
    const addresses = lists.flat();
    this.#count += addresses.length;
    this.#addresses.set(name, [...new Set(addresses.flatMap((text) => this.#usable(text)))]);
  }

  async #ask(name: string, family: 4 | 6): Promise<readonly string[]> {
    const answer = await this.#dns.addresses(name, family);
    if (answer.kind === 'failed') {
      this.#failures.push(answer.reason);
      const last = this.#memory.get(name, family);
      this.#isPartial ||= last === undefined;
      return last ?? [];
    }
    this.#answered++;
    const records = answer.kind === 'records' ? answer.records : [];
    if (answer.kind === 'records' && answer.ttlSeconds !== undefined) {
      this.#ttlSeconds = Math.min(this.#ttlSeconds ?? answer.ttlSeconds, answer.ttlSeconds);
    }
    this.#memory.set(name, family, records);
    return records;
  }

  #usable(text: string): readonly string[] {
    const parsed = parseDestination(text);
    if (parsed.kind === 'ok') return [parsed.value];
    this.#unusable.add(`${printable(text)}: ${parsed.reason}`);
    return [];
  }
}

/** A few, and the same ones in whatever order they came. */
function lines(all: readonly string[]): readonly string[] {
  return shortened([...all].sort(), LINES_MAX);
}
