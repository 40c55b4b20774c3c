import type { Backend } from '../core/model/backend.ts';
import type { DiscoveryStatus } from '../core/model/discovery.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { foundBackends, type FoundBackends } from './found-backends.ts';
import { DOUBT_MS, type ListOrigin, Membership } from './membership.ts';
import type { Source } from './source.ts';
import { sourceWords } from './source-words.ts';

const DRAIN_SECONDS = 30;
/** Of what is left out. */
const LEFT_OUT_MAX = 100;

/** What became of a source's list. */
type Outcome =
  | { readonly kind: 'taken'; readonly backends: number; readonly atMs: number }
  /** The first list of a source, and empty: as if it were an outage, it has to stand for a minute. */
  | { readonly kind: 'empty'; readonly sinceMs: number; readonly atMs: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly sinceMs: number; readonly atMs: number };

/** The backends of one group, from one configuration and one source to the next. */
export class GroupBackends {
  readonly #membership: Membership;
  #settings: ServerGroup;
  /** undefined: the configuration lists them. */
  #source: Source | undefined;
  /** What the last list of the source came to; undefined: it has told none. */
  #outcome: Outcome | undefined;
  /** Whether a list of this source has been taken. */
  #settled = false;
  /** Whether there has been any list, of this source or another one. */
  #known = false;
  #leftOut: readonly string[] = [];
  #group: ServerGroup;

  constructor(settings: ServerGroup) {
    this.#settings = settings;
    this.#group = settings;
    this.#membership = new Membership(settings.drainSeconds ?? DRAIN_SECONDS);
  }

  /** The group with its backends, the same object while nothing is another; undefined: none are known yet. */
  get group(): ServerGroup | undefined {
    return this.#known ? this.#group : undefined;
  }

  /**
   * Takes other settings. What is known stands until their source has told its first list.
   * @param source undefined: the settings list the backends
   */
  configure(settings: ServerGroup, source: Source | undefined, nowMs: number): void {
    const isOtherSource = source !== this.#source;
    const isOtherRule = settings.allowLinkLocal !== this.#settings.allowLinkLocal;
    this.#settings = settings;
    this.#membership.drainFor(settings.drainSeconds ?? DRAIN_SECONDS);
    if (isOtherSource) {
      this.#source = source;
      this.#settled = false;
      this.#outcome = undefined;
      this.#leftOut = [];
      // what the former source did not tell any more is not believed before the new one has told something
      this.#membership.failed();
    }
    if (source === undefined) this.#take(settings.servers, 'configured', nowMs);
    else if ((isOtherSource || isOtherRule) && source.list !== undefined) this.listed(nowMs, isOtherRule);
    this.#compose(true);
  }

  /**
   * Takes the list that its source has.
   * @param believed whatever it lacks, since the operator changed what is taken of it
   */
  listed(nowMs: number, believed = false): void {
    const { list } = this.#source ?? {};
    if (list === undefined) return;
    const found = foundBackends(list.found, this.#settings.allowLinkLocal ?? false);
    this.#leftOut = [...list.leftOut, ...(found.kind === 'list' ? found.leftOut : [])].slice(0, LEFT_OUT_MAX);
    this.#judge(found, nowMs, list.atMs, believed);
    this.#compose(false);
  }

  /** Its source cannot be read. */
  failed(): void {
    this.#membership.failed();
    // an empty list has to stand for a minute in one piece
    if (this.#outcome?.kind === 'empty') this.#outcome = undefined;
  }

  /** Lets go, and believes, what is due. */
  tick(nowMs: number): void {
    if (this.#emptyDueMs !== undefined && this.#emptyDueMs <= nowMs) this.#take([], 'first', nowMs);
    this.#membership.tick(nowMs);
    this.#compose(false);
  }

  /** Whether those take requests that drain, as there is nobody else. */
  get isLastResort(): boolean {
    return this.#membership.isLastResort;
  }

  /** When {@link tick} is due; undefined: it is not. */
  get dueMs(): number | undefined {
    const times = [this.#emptyDueMs, this.#membership.dueMs].filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Where the backends come from, and how it stands with that. */
  status(nowMs: number): DiscoveryStatus {
    const outcome = this.#outcome;
    const { discovery } = this.#settings;
    return {
      source: discovery === undefined ? undefined : sourceWords(discovery),
      list:
        this.#source?.list === undefined
          ? undefined
          : { atMs: this.#source.list.atMs, backends: outcome?.kind === 'taken' ? outcome.backends : 0 },
      failure: this.#source?.failure ?? (outcome?.kind === 'refused' ? outcome : undefined),
      waiting: this.#known ? undefined : this.#waiting(nowMs),
      leftOut: this.#leftOut,
      doubted: this.#membership.doubted,
      draining: this.#membership.draining,
    };
  }

  #judge(found: FoundBackends, nowMs: number, atMs: number, believed: boolean): void {
    if (found.kind === 'refused') {
      const sinceMs = this.#outcome?.kind === 'refused' ? this.#outcome.sinceMs : nowMs;
      this.#outcome = { kind: 'refused', reason: found.reason, sinceMs, atMs };
      this.#membership.failed();
      return;
    }
    const { backends } = found;
    if (!this.#settled && backends.length === 0) {
      const sinceMs = this.#outcome?.kind === 'empty' ? this.#outcome.sinceMs : nowMs;
      this.#outcome = { kind: 'empty', sinceMs, atMs };
      if (sinceMs + DOUBT_MS > nowMs) return;
    }
    this.#outcome = { kind: 'taken', backends: backends.length, atMs };
    const isFirst = !this.#settled || (believed && backends.length > 0);
    this.#take(backends, isFirst ? 'first' : 'found', nowMs);
  }

  #take(backends: readonly Backend[], origin: ListOrigin, nowMs: number): void {
    this.#settled = true;
    this.#known = true;
    if (this.#outcome?.kind === 'empty')
      this.#outcome = { kind: 'taken', backends: 0, atMs: this.#outcome.atMs };
    this.#membership.take(backends, nowMs, origin);
  }

  /** When an empty first list has stood for long enough; undefined: there is none. */
  get #emptyDueMs(): number | undefined {
    if (this.#outcome?.kind !== 'empty') return undefined;
    return this.#outcome.sinceMs + DOUBT_MS;
  }

  #waiting(nowMs: number): string {
    const failure = this.#source?.failure;
    if (failure !== undefined) return failure.reason;
    switch (this.#outcome?.kind) {
      case 'empty': {
        const seconds = Math.max(0, Math.ceil((this.#outcome.sinceMs + DOUBT_MS - nowMs) / 1000));
        return `the list is empty, which is believed in ${seconds} s`;
      }
      case 'refused':
        return this.#outcome.reason;
      case 'taken':
      case undefined:
        return 'no answer yet';
    }
  }

  /** @param always also where the backends are the same: the settings are others */
  #compose(always: boolean): void {
    const { servers } = this.#membership;
    if (always || servers !== this.#group.servers) this.#group = { ...this.#settings, servers };
  }
}
