import type { BackendDeparture } from '../core/model/discovery.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import type { Logger } from '../runtime/log.ts';
import { shortened } from '../runtime/shortened.ts';
import type { SourceFailure } from './source.ts';

/** Names in a line. */
const NAMES_SHOWN = 10;
/** Reasons that are remembered as told: a source of several parts fails for those of each, in turn. */
const REASONS_KEPT = 16;

/** What was last told of a group. */
interface Told {
  group: ServerGroup | undefined;
  doubted: readonly BackendDeparture[];
  isLastResort: boolean;
  leftOut: string;
  /** Why the source cannot be used, of late; none: it can. */
  readonly failures: Set<string>;
}

/** Tells in the log what comes and goes, and what is wrong with sources: each once. */
export class MembershipLog {
  readonly #log: Logger;
  readonly #told = new Map<string, Told>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * @param group as it is now; undefined: its backends are not known
   * @param isLastResort whether those take requests that drain, as there is nobody else
   */
  changed(
    serverGroup: string,
    group: ServerGroup | undefined,
    doubted: readonly BackendDeparture[],
    isLastResort: boolean,
  ): void {
    const told = this.#toldOf(serverGroup);
    if (group?.servers !== told.group?.servers && group !== undefined) this.#tellBackends(told.group, group);
    if (doubted.length > 0 && told.doubted.length === 0) {
      const missing = shortened(idsOf(doubted), NAMES_SHOWN);
      this.#log.warn(
        { serverGroup, missing, backends: group?.servers.length ?? 0 },
        'the source of the backends lacks most of them: they stay until that has stood for a minute',
      );
    }
    if (isLastResort && !told.isLastResort) {
      this.#log.warn(
        { serverGroup },
        'all backends are about to go: they take requests until there is another one',
      );
    }
    told.isLastResort = isLastResort;
    if (group !== undefined) told.group = group;
    told.doubted = doubted;
  }

  leftOut(serverGroup: string, lines: readonly string[]): void {
    const told = this.#toldOf(serverGroup);
    // some sources tell them in another order each time
    const text = lines.toSorted().join('\n');
    if (text !== told.leftOut && lines.length > 0) {
      const leftOut = shortened(lines, NAMES_SHOWN);
      this.#log.warn({ serverGroup, leftOut }, 'the source of the backends has some that cannot be used');
    }
    told.leftOut = text;
  }

  /** @param failure undefined: it can be read */
  source(serverGroup: string, source: string, failure: SourceFailure | undefined): void {
    const told = this.#toldOf(serverGroup);
    const reason = failure?.reason;
    if (reason === undefined) {
      if (told.failures.size === 0) return;
      told.failures.clear();
      this.#log.info({ serverGroup, source }, 'the source of the backends can be used again');
      return;
    }
    const isTold = told.failures.delete(reason);
    // the one that failed last is the last to be forgotten
    told.failures.add(reason);
    if (isTold) return;
    const [oldest] = told.failures;
    if (told.failures.size > REASONS_KEPT && oldest !== undefined) told.failures.delete(oldest);
    const waits = told.group === undefined;
    const consequence = waits ? 'nothing is published until it can' : 'those that were known last stay';
    this.#log.warn(
      { serverGroup, source, reason },
      `the source of the backends cannot be used: ${consequence}`,
    );
  }

  forget(serverGroup: string): void {
    this.#told.delete(serverGroup);
  }

  #tellBackends(
    before: ServerGroup | undefined,
    { name: serverGroup, servers, discovery }: ServerGroup,
  ): void {
    if (before === undefined) {
      if (discovery !== undefined)
        this.#log.info({ serverGroup, backends: servers.length }, 'backends found');
      return;
    }
    const past = new Map(before.servers.map((backend) => [backend.id, backend]));
    const present = new Set(servers.map(({ id }) => id));
    const joined = servers.filter(({ id }) => !past.has(id));
    const draining = servers.filter(
      ({ id, draining: now }) => now === true && past.get(id)?.draining !== true,
    );
    const gone = before.servers.filter(({ id }) => !present.has(id));
    const back = servers.filter(({ id, draining: now }) => now !== true && past.get(id)?.draining === true);
    const reweighed = servers.filter(({ id, weight }) => (past.get(id)?.weight ?? weight) !== weight);
    const changes = { joined, back, draining, gone, reweighed };
    const named = Object.entries(changes).filter(([, of]) => of.length > 0);
    if (named.length === 0) return;
    this.#log.info(
      {
        serverGroup,
        backends: servers.length,
        ...Object.fromEntries(named.map(([change, of]) => [change, shortened(idsOf(of), NAMES_SHOWN)])),
      },
      'backends changed',
    );
  }

  #toldOf(serverGroup: string): Told {
    const told = this.#told.get(serverGroup) ?? {
      group: undefined,
      doubted: [],
      isLastResort: false,
      leftOut: '',
      failures: new Set<string>(),
    };
    this.#told.set(serverGroup, told);
    return told;
  }
}

function idsOf(of: readonly { readonly id: string }[]): readonly string[] {
  return of.map(({ id }) => id);
}
