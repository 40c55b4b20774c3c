import { randomUUID } from 'node:crypto';
import type { CollectRun } from '../core/model/collection.ts';
import type { GroupDecision } from '../core/model/decision.ts';
import type { DiscoveryStatus } from '../core/model/discovery.ts';
import type { GroupStatus } from '../core/model/group-status.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { ConfigurationHistory } from './configuration-history.ts';
import { GroupMemory } from './group-memory.ts';
import { allGroupWarnings } from './group-warnings.ts';
import { groupFigures, groupState, latestPoint, type Now, trendsJson } from './group-state.ts';
import { SampleFeed, type SampleFeedOptions } from './sample-feed.ts';
import { Sidecars } from './sidecars.ts';
import {
  BACKEND_COLUMNS,
  type GroupChange,
  type State,
  type StateChange,
  type UnixMs,
  type Warning,
} from './state-shape.ts';

/** Sidecars have had the time to connect by then. */
const LONELY_AFTER_MS = 60_000;

/** What is to be told: the whole, or what is another than when it was last asked. */
export type StateNews =
  | { readonly kind: 'state'; readonly state: State }
  | { readonly kind: 'change'; readonly change: StateChange };

export interface LiveStateOptions {
  /** Of this package. */
  readonly version: string;
  /** The path of the configuration file, for people. */
  readonly file: string;
  readonly ready: () => boolean;
  readonly status: (serverGroup: string) => GroupStatus | undefined;
  /** Where a group has its backends from. Default: nothing is said of that. */
  readonly discovery?: (serverGroup: string) => DiscoveryStatus | undefined;
  /** The clock that decisions are timed by, monotonic milliseconds. */
  readonly now: () => number;
  readonly unixMs: () => UnixMs;
}

/**
 * What `/state` and `/events` tell, gathered as it happens. While nobody asks, an event costs a note that something has
 * changed; what it is, is put together when somebody does.
 */
export class LiveState {
  readonly sidecars: Sidecars;
  readonly configuration: ConfigurationHistory;
  readonly samples: SampleFeed;
  readonly #options: LiveStateOptions;
  readonly #instance = randomUUID();
  readonly #clock: { readonly startedAtMs: number; readonly offsetMs: number };
  #groups: readonly ServerGroup[] = [];
  readonly #memories = new Map<string, GroupMemory>();
  /** Since the last news. */
  readonly #changed = new Set<string>();
  #membershipChanged = false;
  /** JSON of small parts as they were last told. */
  readonly #told = new Map<string, string>();

  constructor(options: LiveStateOptions) {
    this.#options = options;
    const startedAtMs = options.now();
    this.#clock = { startedAtMs, offsetMs: options.unixMs() - startedAtMs };
    this.sidecars = new Sidecars(options.now);
    this.configuration = new ConfigurationHistory(options.file, () => this.#now.unix(options.now()));
    this.samples = new SampleFeed({ origin: () => this.#origin, status: options.status });
  }

  /** These are the groups from now on. What is known of one that stays, is kept. */
  configure(groups: readonly ServerGroup[]): void {
    this.#groups = groups;
    this.samples.configure(groups);
    this.#membershipChanged = true;
    const names = new Set(groups.map(({ name }) => name));
    for (const name of this.#memories.keys()) {
      if (names.has(name)) continue;
      this.#memories.delete(name);
      this.sidecars.forget(name);
    }
  }

  /** @param run what it rests on; undefined: on no collection. */
  evaluated(decision: GroupDecision, run?: CollectRun): void {
    const { serverGroup, atMs } = decision;
    const memory = this.#memoryOf(serverGroup);
    const { membership } = memory;
    memory.evaluated(decision, this.#now.unix(atMs));
    if (memory.membership !== membership) this.#membershipChanged = true;
    this.#changed.add(serverGroup);
    if (run !== undefined) this.samples.evaluated(decision, run);
  }

  /** There is news of where the group has its backends from. */
  discovered(serverGroup: string): void {
    this.#changed.add(serverGroup);
  }

  /** @param zones versions by zone, of those whose sidecars are told something else */
  published(serverGroup: string, version: string, zones?: ReadonlyMap<string, string>): void {
    this.sidecars.published(serverGroup, version, zones);
    this.#changed.add(serverGroup);
  }

  /** The last sidecar took an assignment, so long after it was published. */
  applied(serverGroup: string, seconds: number): void {
    this.#memoryOf(serverGroup).acknowledged(seconds);
  }

  /** The whole. What {@link news} tells next may be in it already. */
  whole(): State {
    // who hears of this one must not miss what was told to others alone
    this.#told.clear();
    const { version, ready } = this.#options;
    const now = this.#now;
    return {
      build: { version, node: process.version },
      instance: this.#instance,
      startedAt: now.unix(this.#clock.startedAtMs),
      now: now.unix(now.ms),
      ready: ready(),
      warnings: this.#warnings,
      columns: BACKEND_COLUMNS,
      groups: this.#groups.map((settings) =>
        groupState(
          settings,
          this.#options.status(settings.name),
          this.#memoryOf(settings.name),
          now,
          this.#options.discovery?.(settings.name),
        ),
      ),
      sidecars: this.sidecars.state(now.unix),
      configuration: this.configuration.state,
    };
  }

  /**
   * What has happened since this was last asked for.
   * @returns a change that may have nothing but the time.
   */
  news(): StateNews {
    const changed = [...this.#changed];
    this.#changed.clear();
    if (this.#membershipChanged) {
      this.#membershipChanged = false;
      return { kind: 'state', state: this.whole() };
    }
    const now = this.#now;
    const change = {
      now: now.unix(now.ms),
      ...this.#ifChanged('ready', this.#options.ready()),
      ...this.#ifChanged('warnings', this.#warnings),
      ...(changed.length === 0 ? {} : { groups: changed.flatMap((name) => this.#groupChange(name, now)) }),
      ...this.#ifChanged('sidecars', this.sidecars.state(now.unix)),
      ...this.#ifChanged('configuration', this.configuration.state),
    };
    return { kind: 'change', change };
  }

  /** The JSON of a group's `Trends`, a part at a time; undefined: there is no such group. */
  trends(name: string): Generator<string> | undefined {
    if (!this.#groups.some((group) => group.name === name)) return undefined;
    const backends = this.#options.status(name)?.newest.backends.length ?? 0;
    return trendsJson(name, this.#memoryOf(name), backends);
  }

  /** How many warnings each group has, by its name. */
  warningCounts(): ReadonlyMap<string, number> {
    const { status, discovery, now } = this.#options;
    const nowMs = now();
    return new Map(
      this.#groups.map(({ name }) => [
        name,
        allGroupWarnings(status(name)?.newest, discovery?.(name), nowMs).length,
      ]),
    );
  }

  #groupChange(name: string, now: Now): readonly GroupChange[] {
    const memory = this.#memories.get(name);
    if (memory === undefined) return [];
    const figures = groupFigures(
      name,
      this.#options.status(name),
      memory,
      now,
      this.#options.discovery?.(name),
    );
    const point = latestPoint(memory);
    const isNew = point !== undefined && this.#told.get(`point ${name}`) !== String(point.at);
    if (!isNew) return [figures];
    this.#told.set(`point ${name}`, String(point.at));
    return [{ ...figures, point }];
  }

  /** @returns an object with the part, or without it when it is as last told. */
  #ifChanged<Part extends keyof StateChange>(
    part: Part,
    value: NonNullable<StateChange[Part]>,
  ): Partial<StateChange> {
    const json = JSON.stringify(value);
    if (this.#told.get(part) === json) return {};
    this.#told.set(part, json);
    return { [part]: value };
  }

  get #warnings(): readonly Warning[] {
    return [...this.configuration.warnings, ...this.sidecars.warnings(), ...this.#loneliness()];
  }

  #loneliness(): readonly Warning[] {
    const { ms } = this.#now;
    if (!this.sidecars.isEmpty || ms - this.#clock.startedAtMs < LONELY_AFTER_MS) return [];
    return [
      {
        text: 'no sidecar is connected: nobody follows these weights',
        remedy:
          'Look whether sidecars reach Xds.Listen, and at their log; `plimsoll bootstrap` prints a configuration for them.',
      },
    ];
  }

  get #now(): Now {
    const { offsetMs } = this.#clock;
    return { ms: this.#options.now(), unix: (atMs) => Math.round(atMs + offsetMs) };
  }

  get #origin(): ReturnType<SampleFeedOptions['origin']> {
    const { version } = this.#options;
    const { ms, unix } = this.#now;
    const startedAt = unix(this.#clock.startedAtMs);
    return { version, instance: this.#instance, startedAt, now: unix(ms), nowMs: ms };
  }

  #memoryOf(name: string): GroupMemory {
    const known = this.#memories.get(name) ?? new GroupMemory();
    this.#memories.set(name, known);
    return known;
  }
}
