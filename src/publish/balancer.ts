import { evaluate, evaluatePlain, type GroupState, initialState } from '../core/evaluate.ts';
import type { CollectRun } from '../core/model/collection.ts';
import type { GroupDecision } from '../core/model/decision.ts';
import type { GroupStatus, PublishedDecision } from '../core/model/group-status.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { printable } from '../runtime/text.ts';
import { AckDelay } from './ack-delay.ts';
import type { ApplyTimes, StreamKey, UnappliedReason } from './apply-delay.ts';
import type { PublishedVersions, Publisher } from './publisher.ts';
import { ZoneDelays } from './zone-delays.ts';

export interface BalancerObserver {
  /** One evaluation of a group; `run` is what it rests on, undefined for a group without metrics. */
  evaluated(decision: GroupDecision, run: CollectRun | undefined): void;
  /** New content went out, to everybody or to the sidecars of a zone. */
  published(decision: GroupDecision, versions: PublishedVersions): void;
  /** The first sidecar took what a collection had changed, `seconds` after that collection began. */
  acknowledgedAfter(serverGroup: string, seconds: number): void;
  /** The last sidecar took what a collection had changed. */
  applied(serverGroup: string, times: ApplyTimes): void;
  /** So many sidecars' streams did not take an assignment and are no longer waited for. */
  unapplied(serverGroup: string, reason: UnappliedReason, streams: number): void;
}

/** The stream that took an assignment. */
export interface Taker {
  /** The same object for all that one stream takes. */
  readonly stream: StreamKey;
  /** Where its sidecar says that it is; empty: it does not. */
  readonly zone: string;
  /** Since when it has been asking for assignments. */
  readonly subscribedAtMs: number;
  readonly atMs: number;
}

interface Group {
  settings: ServerGroup;
  /** A run that began before this does not know the group as it is configured. */
  changedAtMs: number;
  state: GroupState;
  decision: GroupDecision | undefined;
  published: PublishedDecision | undefined;
  /** What sidecars have from here on, whatever their zone. */
  versions: ReadonlySet<string>;
  readonly delay: AckDelay;
  readonly applyDelay: ZoneDelays;
}

/** Keeps what each server group has learned, evaluates it after each collection and publishes what changed. */
export class Balancer {
  readonly #publisher: Publisher;
  readonly #observer: BalancerObserver;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #groups = new Map<string, Group>();

  constructor(options: {
    readonly publisher: Publisher;
    readonly observer: BalancerObserver;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#publisher = options.publisher;
    this.#observer = options.observer;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Takes the groups of a configuration. A group that stays, by name, keeps what it has learned. */
  configure(groups: readonly ServerGroup[]): void {
    const now = this.#clock.now();
    const names = new Set(groups.map((group) => group.name));
    for (const name of this.#groups.keys()) if (!names.has(name)) this.#groups.delete(name);
    for (const settings of groups) {
      const group = this.#groups.get(settings.name);
      if (group === undefined) {
        this.#groups.set(settings.name, {
          settings,
          changedAtMs: now,
          state: initialState(),
          decision: undefined,
          published: undefined,
          versions: new Set(),
          delay: new AckDelay(),
          applyDelay: this.#applyDelayOf(settings.name),
        });
      } else {
        if (group.settings === settings) continue;
        // a run that is under way tells nothing of those that join, which is what it is to be of them
        if (!areSame(withoutServers(group.settings), withoutServers(settings))) group.changedAtMs = now;
        group.settings = settings;
      }
      if (settings.loadAware === undefined) this.#evaluatePlain(settings);
    }
  }

  /** Evaluates the named groups on one collection, one after the other. A fault in one does not touch the others. */
  evaluate(names: Iterable<string>, run: CollectRun): void {
    for (const name of names) {
      const group = this.#groups.get(name);
      if (group === undefined || run.startedAtMs < group.changedAtMs) continue;
      group.applyDelay.sweep(this.#clock.now());
      try {
        const nowMs = this.#clock.now();
        const { state, decision } = evaluate(group.state, {
          group: group.settings,
          nowMs,
          run,
          delaySeconds: group.delay.secondsAt(nowMs),
        });
        this.#publish(group, decision, run);
        group.state = state;
        this.#observer.evaluated(decision, run);
      } catch (error) {
        this.#log.error(
          { serverGroup: name, error: printable(messageOf(error)) },
          'evaluation failed; what was published stands',
        );
      }
    }
  }

  /** A sidecar has taken `version` of the group's assignment. The first one to do so tells the delay of the rule. */
  acknowledged(name: string, version: string, { stream, zone, subscribedAtMs, atMs }: Taker): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const { published } = group;
    if (published?.firstAcknowledgedAtMs === undefined && published && group.versions.has(version)) {
      group.published = { ...published, firstAcknowledgedAtMs: atMs };
    }
    const seconds = group.delay.acknowledged(version, subscribedAtMs, atMs);
    if (seconds !== undefined) this.#observer.acknowledgedAfter(name, seconds);
    group.applyDelay.acknowledged(zone, stream, version, atMs);
  }

  /** A sidecar has refused `version` of the group's assignment and keeps what it had. */
  rejected(name: string, version: string, stream: StreamKey): void {
    this.#groups.get(name)?.applyDelay.rejected(stream, version);
  }

  /** A stream follows the group no more. */
  unsubscribed(name: string, stream: StreamKey): void {
    this.#groups.get(name)?.applyDelay.left(stream);
  }

  /** A stream has ended. */
  left(stream: StreamKey): void {
    for (const { applyDelay } of this.#groups.values()) applyDelay.left(stream);
  }

  /** The latest decision of every group that has one. */
  get decisions(): readonly GroupDecision[] {
    return [...this.#groups.values()].flatMap((group) => group.decision ?? []);
  }

  /** The name of every group that is configured. */
  get names(): readonly string[] {
    return [...this.#groups.keys()];
  }

  /** undefined: there is no such group, or it has no decision yet. */
  status(name: string): GroupStatus | undefined {
    const group = this.#groups.get(name);
    if (group?.decision === undefined || group.published === undefined) return undefined;
    return { newest: group.decision, published: group.published, streams: group.applyDelay.streams };
  }

  #evaluatePlain(settings: ServerGroup): void {
    const group = this.#groups.get(settings.name);
    if (group === undefined) return;
    const before = group.published?.decision.assignment;
    const decision = evaluatePlain(settings, this.#clock.now(), before);
    this.#publish(group, decision);
    // what was learned and published under another configuration is not what sidecars have
    group.state = initialState();
    this.#observer.evaluated(decision, undefined);
  }

  #applyDelayOf(serverGroup: string): ZoneDelays {
    return new ZoneDelays({
      applied: (times) => {
        this.#observer.applied(serverGroup, times);
      },
      unapplied: (reason, streams) => {
        this.#observer.unapplied(serverGroup, reason, streams);
      },
    });
  }

  /** What cannot be published is no decision: the one before stands, here and with the sidecars. */
  #publish(group: Group, decision: GroupDecision, run?: CollectRun): void {
    const now = this.#clock.now();
    const published =
      decision.publish === undefined
        ? undefined
        : this.#publisher.publish(decision.assignment, decision.zones);
    group.decision = decision;
    if (published === undefined) return;
    group.published = publishedDecision(group.published, decision, published, now);
    if (!published.news) return;
    const all = [published, ...published.zones.values()];
    group.versions = new Set(all.map(({ version }) => version));
    const { collectionStartedAtMs } = decision;
    if (collectionStartedAtMs !== undefined) {
      const newer = all.filter(({ changed }) => changed).map(({ version }) => version);
      group.delay.published(new Set(newer), collectionStartedAtMs, now);
    }
    group.applyDelay.published(published, collectionStartedAtMs === undefined ? undefined : run, now);
    this.#observer.published(decision, published);
  }
}

/** Content that sidecars have already stays what it was: only what it comes from is newer. */
function publishedDecision(
  before: PublishedDecision | undefined,
  decision: GroupDecision,
  { version, zones }: PublishedVersions,
  nowMs: number,
): PublishedDecision {
  const versions =
    zones.size === 0 ? undefined : new Map(Array.from(zones, ([zone, of]) => [zone, of.version]));
  return before?.version === version
    ? { ...before, decision, zones: versions }
    : { decision, version, zones: versions, atMs: nowMs, firstAcknowledgedAtMs: undefined };
}

function withoutServers({ servers: _servers, ...others }: ServerGroup): Omit<ServerGroup, 'servers'> {
  return others;
}

function areSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
