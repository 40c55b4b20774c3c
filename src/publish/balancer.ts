import { evaluate, evaluatePlain, type GroupState, initialState } from '../core/evaluate.ts';
import type { CollectRun, GroupDecision, ServerGroup } from '../core/model.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { AckDelay } from './ack-delay.ts';
import type { Publisher } from './publisher.ts';

export interface BalancerObserver {
  /** One evaluation of a group; `run` is what it rests on, undefined for a group without metrics. */
  evaluated(decision: GroupDecision, run: CollectRun | undefined): void;
  /** New content went out. */
  published(decision: GroupDecision, version: string): void;
  /** The first sidecar took what a collection had changed, `seconds` after that collection began. */
  acknowledgedAfter(serverGroup: string, seconds: number): void;
}

interface Group {
  settings: ServerGroup;
  /** A run that began before this does not know the group as it is configured. */
  changedAtMs: number;
  state: GroupState;
  decision: GroupDecision | undefined;
  readonly delay: AckDelay;
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
          delay: new AckDelay(),
        });
      } else if (JSON.stringify(group.settings) !== JSON.stringify(settings)) {
        group.settings = settings;
        group.changedAtMs = now;
      }
      if (settings.loadAware === undefined) this.#evaluatePlain(settings);
    }
  }

  /** Evaluates the named groups on one collection, one after the other. A fault in one does not touch the others. */
  evaluate(names: Iterable<string>, run: CollectRun): void {
    for (const name of names) {
      const group = this.#groups.get(name);
      if (group === undefined || run.startedAtMs < group.changedAtMs) continue;
      try {
        const { state, decision } = evaluate(group.state, {
          group: group.settings,
          nowMs: this.#clock.now(),
          run,
          delaySeconds: group.delay.seconds,
        });
        this.#publish(group, decision);
        group.state = state;
        this.#observer.evaluated(decision, run);
      } catch (error) {
        this.#log.error(
          { serverGroup: name, error: messageOf(error) },
          'evaluation failed; what was published stands',
        );
      }
    }
  }

  /**
   * A sidecar has taken `version` of the group's assignment. The first one to do so tells the delay.
   * @param subscribedAtMs since when it has been asking for assignments
   */
  acknowledged(name: string, version: string, subscribedAtMs: number, atMs: number): void {
    const seconds = this.#groups.get(name)?.delay.acknowledged(version, subscribedAtMs, atMs);
    if (seconds !== undefined) this.#observer.acknowledgedAfter(name, seconds);
  }

  /** The latest decision of every group that has one. */
  get decisions(): readonly GroupDecision[] {
    return [...this.#groups.values()].flatMap((group) => group.decision ?? []);
  }

  #evaluatePlain(settings: ServerGroup): void {
    const group = this.#groups.get(settings.name);
    if (group === undefined) return;
    const decision = evaluatePlain(settings, this.#clock.now());
    this.#publish(group, decision);
    // what was learned and published under another configuration is not what sidecars have
    group.state = initialState();
    this.#observer.evaluated(decision, undefined);
  }

  /** What cannot be published is no decision: the one before stands, here and with the sidecars. */
  #publish(group: Group, decision: GroupDecision): void {
    const published =
      decision.publish === undefined ? undefined : this.#publisher.publish(decision.assignment);
    group.decision = decision;
    if (published?.changed !== true) return;
    if (decision.collectionStartedAtMs !== undefined) {
      group.delay.published(published.version, decision.collectionStartedAtMs, this.#clock.now());
    }
    this.#observer.published(decision, published.version);
  }
}
