import type { Configuration, Listener } from '../core/model/configuration.ts';
import type { Publisher } from '../publish/publisher.ts';
import { standingListeners } from '../publish/standing-listeners.ts';
import type { Clock } from '../runtime/clock.ts';

/** Brings a configuration to sidecars in the steps of {@link Publisher.configure}, groups without backends later. */
export class StagedRollout {
  readonly #publisher: Publisher;
  readonly #clock: Clock;
  /** Those that sidecars are to have. */
  #listeners: readonly Listener[] = [];
  /** Groups that wait for their first assignment, as their backends were not known when they were configured. */
  #awaited: Set<string> = new Set();
  #cancelStep = (): void => undefined;
  #stopped = false;

  constructor(publisher: Publisher, clock: Clock) {
    this.#publisher = publisher;
    this.#clock = clock;
  }

  /**
   * The first steps are taken by {@link advance}.
   * @param awaited groups whose backends are not known yet
   * @returns the names of the groups that went.
   */
  begin(configuration: Configuration, awaited: Iterable<string>): readonly string[] {
    this.#awaited = new Set(awaited);
    return this.#configure(configuration);
  }

  /** The group has an assignment: it is waited for no longer. */
  published(serverGroup: string, configuration: Configuration): void {
    if (this.#stopped || !this.#awaited.delete(serverGroup)) return;
    this.#configure(configuration);
    this.advance();
  }

  /** Takes the steps that are due, and the others when they are. */
  advance(): void {
    this.#cancelStep();
    const nextMs = this.#publisher.advance(this.#clock.now());
    if (nextMs === undefined) return;
    this.#cancelStep = this.#clock.schedule(nextMs - this.#clock.now(), () => {
      this.advance();
    });
  }

  /** Takes no more steps, whatever is still published: sidecars keep what they have. */
  stop(): void {
    this.#stopped = true;
    this.#cancelStep();
  }

  #configure(configuration: Configuration): readonly string[] {
    this.#listeners = standingListeners(configuration, this.#listeners, (name) => this.#awaited.has(name));
    return this.#publisher.configure(configuration.serverGroups, this.#listeners, this.#clock.now());
  }
}
