import type { DiscoverySettings, DiscoveryStatus } from '../core/model/discovery.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Discoverer } from './discoverer.ts';
import { GroupBackends } from './group-backends.ts';
import { MembershipLog } from './membership-log.ts';
import { Source } from './source.ts';
import { sourceWords } from './source-words.ts';

/** Between two changes that are told: what comes meanwhile is told with the next one. */
const GAP_MS = 1_000;

interface Running {
  readonly source: Source;
  readonly words: string;
  /** Names of the groups that have their backends from it. */
  groups: readonly string[];
}

/**
 * Knows the backends of every group. One source runs for each distinct Discovery, whichever groups it is for. What a
 * group does with a list is the business of {@link GroupBackends}.
 */
export class DiscoveryManager {
  readonly #clock: Clock;
  readonly #open: (settings: DiscoverySettings) => Discoverer;
  readonly #changed: () => void;
  readonly #noted: (serverGroup: string) => void;
  readonly #failed: (serverGroup: string) => void;
  readonly #log: MembershipLog;
  readonly #groups = new Map<string, GroupBackends>();
  readonly #sources = new Map<string, Running>();
  readonly #stopping = new Set<Promise<void>>();
  /** What was told last. */
  #told: readonly ServerGroup[] = [];
  #toldAtMs = Number.NEGATIVE_INFINITY;
  #cancelTelling: (() => void) | undefined;
  #cancelTick = (): void => undefined;

  constructor(options: {
    readonly clock: Clock;
    readonly log: Logger;
    /** Makes the source that the settings mean. */
    readonly open: (settings: DiscoverySettings) => Discoverer;
    /** The {@link groups} are others than before; not called for what {@link configure} changed. At most once in a second. */
    readonly changed: () => void;
    /** The source of this group's backends has told something, or could not be read. */
    readonly noted?: (serverGroup: string) => void;
    /** An attempt to read the source of this group's backends failed. */
    readonly failed?: (serverGroup: string) => void;
  }) {
    this.#clock = options.clock;
    this.#open = options.open;
    this.#changed = options.changed;
    this.#noted = options.noted ?? (() => undefined);
    this.#failed = options.failed ?? (() => undefined);
    this.#log = new MembershipLog(options.log);
  }

  /**
   * Takes the groups of a configuration. Those that list their backends have them at once; the others go on with what is
   * known of them, until their source has told its first list.
   */
  configure(groups: readonly ServerGroup[]): void {
    const nowMs = this.#clock.now();
    const names = new Set(groups.map(({ name }) => name));
    for (const name of this.#groups.keys()) if (!names.has(name)) this.#forget(name);
    const begun = this.#prepare(groups);
    for (const settings of groups) {
      const { name, discovery } = settings;
      const group = this.#groups.get(name) ?? new GroupBackends(settings);
      // a map keeps the order of its first entries: it has to be that of the configuration
      this.#groups.delete(name);
      this.#groups.set(name, group);
      const running = discovery === undefined ? undefined : this.#sources.get(keyOf(discovery));
      group.configure(settings, running?.source, nowMs);
      this.#tellLog(name);
    }
    this.#told = this.groups;
    this.#scheduleTick();
    // what a source tells at once finds its groups
    for (const begin of begun) begin();
  }

  /** The groups whose backends are known, with them, in the order of the configuration. */
  get groups(): readonly ServerGroup[] {
    return [...this.#groups.values()].flatMap(({ group }) => group ?? []);
  }

  /** undefined: there is no such group. */
  status(serverGroup: string): DiscoveryStatus | undefined {
    return this.#groups.get(serverGroup)?.status(this.#clock.now());
  }

  /** Where each group stands that does not list its backends, by its name. */
  get found(): ReadonlyMap<string, DiscoveryStatus> {
    const nowMs = this.#clock.now();
    const statuses = [...this.#groups].map(([name, group]) => [name, group.status(nowMs)] as const);
    return new Map(statuses.filter(([, { source }]) => source !== undefined));
  }

  /** The groups whose backends are not known yet, and why. */
  get waiting(): readonly { readonly serverGroup: string; readonly reason: string }[] {
    const nowMs = this.#clock.now();
    return [...this.#groups].flatMap(([serverGroup, group]) => {
      if (group.group !== undefined) return [];
      return { serverGroup, reason: group.status(nowMs).waiting ?? '' };
    });
  }

  /** Resolves when all sources have ended; nothing changes any more. */
  async stop(): Promise<void> {
    this.#cancelTelling?.();
    this.#cancelTick();
    for (const { source } of this.#sources.values()) this.#end(source);
    this.#sources.clear();
    await Promise.all(this.#stopping);
  }

  /** Ends the sources that no group has any more. @returns what begins those that are new */
  #prepare(groups: readonly ServerGroup[]): readonly (() => void)[] {
    const wanted = new Map<string, { readonly settings: DiscoverySettings; readonly names: string[] }>();
    for (const { name, discovery: settings } of groups) {
      if (settings === undefined) continue;
      const key = keyOf(settings);
      const one = wanted.get(key) ?? { settings, names: [] };
      one.names.push(name);
      wanted.set(key, one);
    }
    for (const [key, { source }] of this.#sources) {
      if (wanted.has(key)) continue;
      this.#sources.delete(key);
      this.#end(source);
    }
    return [...wanted].flatMap(([key, { settings, names }]) => {
      const running = this.#sources.get(key);
      if (running === undefined) return this.#add(key, settings, names);
      running.groups = names;
      return [];
    });
  }

  #add(key: string, settings: DiscoverySettings, groups: readonly string[]): () => void {
    const source = new Source(this.#clock, {
      listed: () => {
        for (const name of running.groups) this.#groups.get(name)?.listed(this.#clock.now());
        this.#noteSource(running);
      },
      failed: () => {
        for (const name of running.groups) {
          this.#groups.get(name)?.failed();
          this.#failed(name);
        }
        this.#noteSource(running);
      },
    });
    const running: Running = { source, words: sourceWords(settings), groups };
    this.#sources.set(key, running);
    return () => {
      source.start(() => this.#open(settings));
    };
  }

  #noteSource({ groups, words }: Running): void {
    const nowMs = this.#clock.now();
    for (const name of groups) {
      const status = this.#groups.get(name)?.status(nowMs);
      this.#log.source(name, words, status?.failure);
      this.#log.leftOut(name, status?.leftOut ?? []);
      this.#noted(name);
    }
    this.#tell();
    this.#scheduleTick();
  }

  #end(source: Source): void {
    const stopped = source.stop().finally(() => {
      this.#stopping.delete(stopped);
    });
    this.#stopping.add(stopped);
  }

  #forget(name: string): void {
    this.#groups.delete(name);
    this.#log.forget(name);
  }

  #scheduleTick(): void {
    this.#cancelTick();
    const due = [...this.#groups.values()].map(({ dueMs }) => dueMs).filter((ms) => ms !== undefined);
    if (due.length === 0) return;
    const nowMs = this.#clock.now();
    this.#cancelTick = this.#clock.schedule(Math.max(0, Math.min(...due) - nowMs), () => {
      for (const group of this.#groups.values()) group.tick(this.#clock.now());
      this.#tell();
      this.#scheduleTick();
    });
  }

  /** Tells what is another than told last: in a moment, so that what many sources say at a time is told in one go. */
  #tell(): void {
    if (this.#cancelTelling !== undefined) return;
    const waitMs = Math.max(0, this.#toldAtMs + GAP_MS - this.#clock.now());
    this.#cancelTelling = this.#clock.schedule(waitMs, () => {
      this.#cancelTelling = undefined;
      const { groups } = this;
      for (const name of this.#groups.keys()) this.#tellLog(name);
      if (groups.length === this.#told.length && groups.every((group, i) => group === this.#told[i])) return;
      this.#told = groups;
      this.#toldAtMs = this.#clock.now();
      this.#changed();
    });
  }

  #tellLog(name: string): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const { doubted } = group.status(this.#clock.now());
    this.#log.changed(name, group.group, doubted, group.isLastResort);
  }
}

function keyOf(settings: DiscoverySettings): string {
  return JSON.stringify(settings);
}
