import { promises } from 'node:dns';
import { messageOf } from '../runtime/errors.ts';
import { printable } from '../runtime/text.ts';

/** What DNS says of one name and type. */
export type DnsAnswer<T> =
  /** At least one record. `ttlSeconds`: the shortest of those that are told; undefined: none is. */
  | { readonly kind: 'records'; readonly records: readonly T[]; readonly ttlSeconds: number | undefined }
  /** The name does not exist (NXDOMAIN), or has nothing of this type. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly reason: string };

/** RFC 2782. Numbers are 0..65535, and `target` is without the last dot: empty says that there is no such service. */
export interface SrvRecord {
  readonly target: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** Asks DNS. Answers never reject. */
export interface Dns {
  /** IPv4 or IPv6 addresses as they are written in the answer. */
  addresses(name: string, family: 4 | 6): Promise<DnsAnswer<string>>;
  services(name: string): Promise<DnsAnswer<SrvRecord>>;
}

/** How long a server may take; c-ares doubles it with each try, so that one that says nothing costs 3 s. */
const TRY_MS = 1000;
const TRIES = 2;

const REASONS: Readonly<Record<string, string>> = {
  EBADNAME: 'not a name that DNS can hold',
  EBADRESP: 'an answer that cannot be read',
  ECANCELLED: 'given up',
  ECONNREFUSED: 'connection refused',
  EFORMERR: 'FORMERR',
  ENOTIMP: 'NOTIMP',
  EREFUSED: 'REFUSED',
  ESERVFAIL: 'SERVFAIL',
  ETIMEOUT: 'no answer',
};

/**
 * DNS servers, asked one after the other until one gives an answer; that a name does not exist is one. The server that
 * answered last is asked first.
 *
 * Names are asked for as they are: search domains, `ndots` and /etc/hosts play no part. Over UDP, and over TCP what
 * does not fit. Waiting for an answer is timed by c-ares, not by a `Clock`.
 */
export class DnsServers {
  readonly #servers: () => readonly string[];
  readonly #tryMs: number;
  #lastGood: string | undefined;

  /**
   * @param servers `IP:PORT`; none: those of the system
   * @param tryMs how long a server may take for the first of two tries
   * @param system what resolv.conf says, asked anew for each session
   */
  constructor(servers: readonly string[], { tryMs = TRY_MS, system = systemServers } = {}) {
    this.#servers = servers.length > 0 ? () => servers : system;
    this.#tryMs = tryMs;
  }

  /** Questions that belong together, until `signal` gives them up. What was learned in a session ends with it. */
  session(signal: AbortSignal): Dns {
    // never kept: c-ares caches answers in some versions of Node
    const resolvers = [...new Set(this.#servers())].map((server): Asked => {
      const resolver = new promises.Resolver({ timeout: this.#tryMs, tries: TRIES });
      resolver.setServers([server]);
      return { server, resolver };
    });
    signal.addEventListener(
      'abort',
      () => {
        for (const { resolver } of resolvers) resolver.cancel();
      },
      { once: true },
    );
    return {
      addresses: async (name, family) =>
        this.#ask(resolvers, signal, `${family === 4 ? 'A' : 'AAAA'} of ${name}`, async (resolver) => {
          const list =
            family === 4
              ? await resolver.resolve4(name, { ttl: true })
              : await resolver.resolve6(name, { ttl: true });
          // c-ares tells the TTL of the first 256 records
          const ttls = list.flatMap(({ ttl }: { readonly ttl: number | undefined }) => ttl ?? []);
          return {
            records: list.map(({ address }) => address),
            ttlSeconds: ttls.length === 0 ? undefined : Math.min(...ttls),
          };
        }),
      services: async (name) =>
        this.#ask(resolvers, signal, `SRV of ${name}`, async (resolver) => {
          const list = await resolver.resolveSrv(name);
          const records = list.map(({ name: target, ...numbers }) => ({ target, ...numbers }));
          return { records, ttlSeconds: undefined };
        }),
    };
  }

  async #ask<T>(
    resolvers: readonly Asked[],
    signal: AbortSignal,
    question: string,
    query: (
      resolver: promises.Resolver,
    ) => Promise<{ records: readonly T[]; ttlSeconds: number | undefined }>,
  ): Promise<DnsAnswer<T>> {
    const failures: string[] = [];
    const first = Math.max(
      0,
      resolvers.findIndex(({ server }) => server === this.#lastGood),
    );
    for (const { server, resolver } of [...resolvers.slice(first), ...resolvers.slice(0, first)]) {
      if (signal.aborted) break;
      try {
        const { records, ttlSeconds } = await query(resolver);
        this.#lastGood = server;
        // an alias that leads nowhere is an answer without records
        return records.length === 0 ? { kind: 'none' } : { kind: 'records', records, ttlSeconds };
      } catch (error) {
        const code = codeOf(error);
        if (code === 'ENOTFOUND' || code === 'ENODATA') {
          this.#lastGood = server;
          return { kind: 'none' };
        }
        failures.push(`${server}: ${REASONS[code] ?? printable(messageOf(error))}`);
      }
    }
    const why = failures.length === 0 ? 'given up' : failures.join(', ');
    return { kind: 'failed', reason: `${printable(question)}: ${why}` };
  }
}

/** c-ares reads resolv.conf when a resolver is made. */
function systemServers(): readonly string[] {
  return new promises.Resolver().getServers();
}

interface Asked {
  readonly server: string;
  readonly resolver: promises.Resolver;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
