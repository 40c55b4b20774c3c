import { randomInt } from 'node:crypto';
import type { DnsDiscovery } from '../core/model/discovery.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Discoverer, DiscoveryObserver } from './discoverer.ts';
import { type Dns, DnsServers } from './dns-client.ts';
import { DnsReader } from './dns-reader.ts';
import type { DnsReading } from './dns-round.ts';

/** Within these a TTL is honoured. SRV: the TTL is that of the addresses, since c-ares tells no other. */
const TTL_SECONDS = { min: 1, max: { A: 60, SRV: 30 } } as const;
/** Until the next question when the name has nothing, or no TTL is told. */
const EMPTY_SECONDS = 5;
/** Between attempts that fail: doubled each time. */
const BACKOFF_SECONDS = { first: 1, max: 30 } as const;
/** All questions of one attempt. */
const ATTEMPT_MS = 30_000;
/** A pause is longer by up to this part, so that replicas do not ask at once. */
const JITTER = 0.1;
/** A first list that lacks what never answered is told at the last of these attempts; an empty one never. */
const FIRST_LIST_ATTEMPTS = 3;

/**
 * Backends by the addresses of a domain name, or by its SRV records.
 *
 * A name that does not exist or has no records gives an empty list. When some questions fail and others do not, what
 * the failed ones were answered with last stays in the list; when all fail, so does the attempt.
 */
export class DnsDiscoverer implements Discoverer {
  readonly #settings: DnsDiscovery;
  readonly #clock: Clock;
  readonly #session: (signal: AbortSignal) => Dns;
  readonly #random: () => number;
  readonly #reader: DnsReader;

  /**
   * @param session what is asked; default: the settings' resolvers
   * @param random 0..1, for the spread of pauses
   */
  constructor(options: {
    readonly settings: DnsDiscovery;
    readonly clock: Clock;
    readonly session?: (signal: AbortSignal) => Dns;
    readonly random?: () => number;
  }) {
    this.#settings = options.settings;
    this.#clock = options.clock;
    const servers = new DnsServers(options.settings.resolvers);
    this.#session = options.session ?? ((signal) => servers.session(signal));
    this.#random = options.random ?? (() => randomInt(1000) / 1000);
    this.#reader = new DnsReader(options.settings);
  }

  async run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    let failures = 0;
    let hasToldList = false;
    while (!signal.aborted) {
      const reading = await this.#read(signal);
      // what was given up halfway says nothing
      if (signal.aborted) return;
      const isWhole = reading.kind === 'list' && reading.failures.length === 0;
      failures = isWhole ? 0 : failures + 1;
      if (reading.kind === 'failed') {
        observer.failed(reading.reason);
      } else if (
        reading.isPartial &&
        (reading.list.length === 0 || (!hasToldList && failures < FIRST_LIST_ATTEMPTS))
      ) {
        observer.failed(reading.failures.join('; '));
      } else {
        hasToldList = true;
        observer.found(reading.list, [...reading.leftOut, ...reading.failures]);
      }
      await sleep(this.#clock, 1000 * this.#pauseSeconds(reading, failures), signal);
    }
  }

  async #read(signal: AbortSignal): Promise<DnsReading> {
    const attempt = new AbortController();
    const giveUp = (): void => {
      attempt.abort();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    const cancel = this.#clock.schedule(ATTEMPT_MS, giveUp);
    try {
      return await this.#reader.read(this.#session(attempt.signal));
    } catch (error) {
      return { kind: 'failed', reason: messageOf(error) };
    } finally {
      cancel();
      signal.removeEventListener('abort', giveUp);
    }
  }

  #pauseSeconds(reading: DnsReading, failures: number): number {
    const backoff = Math.min(BACKOFF_SECONDS.first * 2 ** (failures - 1), BACKOFF_SECONDS.max);
    const honoured = reading.kind === 'list' ? this.#honoured(reading.ttlSeconds) : backoff;
    return (failures === 0 ? honoured : Math.min(honoured, backoff)) * (1 + JITTER * this.#random());
  }

  #honoured(ttlSeconds: number | undefined): number {
    const max = TTL_SECONDS.max[this.#settings.type];
    return Math.min(Math.max(ttlSeconds ?? EMPTY_SECONDS, TTL_SECONDS.min), max);
  }
}
