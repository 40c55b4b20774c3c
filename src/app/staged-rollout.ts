import type { Configuration, Listener } from '../core/model/configuration.ts';
import type { Publisher } from '../publish/publisher.ts';
import { standingListeners } from '../publish/standing-listeners.ts';
import type { Clock } from '../runtime/clock.ts';

type Rules = Pick<Configuration, 'serverGroups' | 'listeners'>;

/**
 * Brings a configuration to sidecars in the steps of {@link Publisher.configure}, listeners that move to a group without
 * an assignment later.
 */
export class StagedRollout {
  readonly #publisher: Publisher;
  readonly #clock: Clock;
  #rules: Rules = { serverGroups: [], listeners: [] };
  /** Those that sidecars are to have; while there are none the last ones, which they keep. */
  #listeners: readonly Listener[] = [];
  /** Groups whose first assignment listeners wait for. */
  #awaited: ReadonlySet<string> = new Set();
  /** One of them has it. */
  #moves = false;
  #cancelStep = (): void => undefined;
  #stopped = false;

  constructor(publisher: Publisher, clock: Clock) {
    this.#publisher = publisher;
    this.#clock = clock;
  }

  /**
   * The first steps are taken by {@link advance}.
   * @returns the names of the groups that went.
   */
  begin(rules: Rules): readonly string[] {
    this.#rules = rules;
    return this.#configure();
  }

  /** The group has an assignment. Many may have their first at the same time: what moves then moves in one go. */
  published(serverGroup: string): void {
    if (this.#stopped || this.#moves || !this.#awaited.has(serverGroup)) return;
    this.#moves = true;
    this.#advanceIn(0);
  }

  /** Takes the steps that are due, and the others when they are. */
  advance(): void {
    if (this.#moves) this.#configure();
    const nextMs = this.#publisher.advance(this.#clock.now());
    if (nextMs === undefined) this.#cancelStep();
    else this.#advanceIn(nextMs - this.#clock.now());
  }

  /** Takes no more steps, whatever is still published: sidecars keep what they have. */
  stop(): void {
    this.#stopped = true;
    this.#cancelStep();
  }

  #advanceIn(milliseconds: number): void {
    this.#cancelStep();
    this.#cancelStep = this.#clock.schedule(milliseconds, () => {
      this.advance();
    });
  }

  #configure(): readonly string[] {
    const { serverGroups, listeners } = this.#rules;
    const standing = standingListeners(listeners, this.#listeners, (name) => this.#publisher.has(name));
    const kept = listeners.filter((listener, index) => listener !== standing[index]);
    if (listeners.length > 0) this.#listeners = standing;
    this.#awaited = new Set(kept.map(({ serverGroup }) => serverGroup));
    this.#moves = false;
    return this.#publisher.configure(serverGroups, standing, this.#clock.now());
  }
}
