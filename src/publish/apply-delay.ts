/** How long a stream is waited for. One that takes longer is away, and does not tell how long the way is. */
const AWAITED_MS = 30_000;
/** Publishes that are waited for at once, those of {@link AWAITED_MS} at an Interval of 0.1 s and more. */
const AWAITED_MAX = 512;

/** A client's stream; what it is does not matter here. */
export type StreamKey = object;

/** Why a stream is no longer waited for though it did not take what was published. */
export type UnappliedReason =
  /** It ended, or asks for the group no more. */
  | 'left'
  /** It refused the assignment and keeps what it had. */
  | 'rejected'
  /** It did not answer in time. */
  | 'timeout';

/** Where the time went from the start of a collection until the last stream had taken what it changed, seconds. */
export interface ApplyTimes {
  /** Until the collection ended. */
  readonly collect: number;
  /** From there until the assignment was evaluated, encoded and handed to the streams. */
  readonly publish: number;
  /** From there until the last acknowledgement. */
  readonly sidecars: number;
}

export interface ApplyObserver {
  /** Every stream that was waited for has taken the assignment, or is no longer waited for; at least one has. */
  applied(times: ApplyTimes): void;
  /** So many streams are no longer waited for. */
  unapplied(reason: UnappliedReason, streams: number): void;
}

/** The collection that a publish rests on. */
export interface Span {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** How many streams take the assignments, and how many of them have the latest. */
export interface StreamCounts {
  readonly following: number;
  readonly current: number;
}

/** What is known of a stream that takes the assignments. */
interface Follower {
  /** The latest publish that it is not waited for: it has taken it or a later one, or refused it. */
  readonly passed: number;
  /** The version that it has, by its latest acknowledgement. */
  readonly version: string;
}

interface Awaited {
  readonly sequence: number;
  readonly version: string;
  /** undefined: no collection caused it, and there is nothing to tell. */
  readonly run: Span | undefined;
  readonly publishedAtMs: number;
  /** Streams that have neither this version nor a later one. */
  waiting: number;
  /** The latest acknowledgement by one that was waited for. */
  appliedAtMs: number | undefined;
}

/**
 * How long it takes from the start of a collection until the last stream has taken what it changed: the last of those
 * that had taken an assignment of the group before this one was published. A stream may be told of a later version
 * instead; when it takes that, it is past this one too.
 *
 * An acknowledgement costs two look-ups, whatever the number of streams.
 */
export class ApplyDelay {
  readonly #observer: ApplyObserver;
  readonly #followers = new Map<StreamKey, Follower>();
  /** Oldest first. */
  readonly #awaited: Awaited[] = [];
  #latest = 0;
  #latestVersion: string | undefined;

  constructor(observer: ApplyObserver) {
    this.#observer = observer;
  }

  /**
   * How many streams take the assignments, and how many of them have the latest by their own word. One that did not
   * answer in time is none until it does.
   */
  get streams(): StreamCounts {
    let current = 0;
    for (const { version } of this.#followers.values()) if (version === this.#latestVersion) current++;
    return { following: this.#followers.size, current };
  }

  /** @param run undefined: it was not a collection that caused it. */
  published(version: string, run: Span | undefined, nowMs: number): void {
    const sequence = ++this.#latest;
    this.#latestVersion = version;
    const waiting = this.#followers.size;
    if (waiting === 0) return;
    this.#awaited.push({ sequence, version, run, publishedAtMs: nowMs, waiting, appliedAtMs: undefined });
    const [oldest] = this.#awaited;
    if (oldest !== undefined && this.#awaited.length > AWAITED_MAX) this.#giveUp(oldest);
  }

  /** The first acknowledgement of a stream makes it one that is waited for from the next publish on. */
  acknowledged(stream: StreamKey, version: string, atMs: number): void {
    const passed = this.#followers.get(stream)?.passed ?? this.#latest;
    const sequence = Math.max(passed, this.#sequenceOf(version));
    this.#followers.set(stream, { passed: sequence, version });
    if (sequence > passed) this.#pass(passed, sequence, atMs);
  }

  /** The stream keeps the version that it had. */
  rejected(stream: StreamKey, version: string): void {
    const follower = this.#followers.get(stream);
    const sequence = this.#sequenceOf(version);
    if (follower === undefined || sequence <= follower.passed) return;
    this.#followers.set(stream, { ...follower, passed: sequence });
    this.#pass(follower.passed, sequence, undefined);
    this.#observer.unapplied('rejected', 1);
  }

  left(stream: StreamKey): void {
    const follower = this.#followers.get(stream);
    if (follower === undefined) return;
    this.#followers.delete(stream);
    if (this.#pass(follower.passed, this.#latest, undefined)) this.#observer.unapplied('left', 1);
  }

  /** To be called now and then: streams that did not answer in time are waited for again once they have answered. */
  sweep(nowMs: number): void {
    const overdue = this.#awaited.findLast(({ publishedAtMs }) => nowMs - publishedAtMs > AWAITED_MS);
    if (overdue !== undefined) this.#giveUp(overdue);
  }

  /** 0: it is not waited for. */
  #sequenceOf(version: string): number {
    return this.#awaited.findLast((of) => of.version === version)?.sequence ?? 0;
  }

  /** Waits no longer for those that have neither this publish nor a later one. */
  #giveUp({ sequence }: Awaited): void {
    let streams = 0;
    for (const [stream, { passed }] of this.#followers) {
      if (passed >= sequence) continue;
      this.#followers.delete(stream);
      this.#pass(passed, this.#latest, undefined);
      streams++;
    }
    this.#observer.unapplied('timeout', streams);
  }

  /**
   * A stream is not waited for any more in the publishes after `from`, up to `to`.
   * @param appliedAtMs undefined: it did not take them.
   * @returns whether it was waited for in any.
   */
  #pass(from: number, to: number, appliedAtMs: number | undefined): boolean {
    let any = false;
    for (let index = this.#awaited.length - 1; index >= 0; index--) {
      const awaited = this.#awaited[index];
      if (awaited === undefined || awaited.sequence <= from) break;
      if (awaited.sequence > to) continue;
      any = true;
      awaited.appliedAtMs = appliedAtMs ?? awaited.appliedAtMs;
      if (--awaited.waiting > 0) continue;
      this.#awaited.splice(index, 1);
      this.#tell(awaited);
    }
    return any;
  }

  #tell({ run, publishedAtMs, appliedAtMs }: Awaited): void {
    if (run === undefined || appliedAtMs === undefined) return;
    this.#observer.applied({
      collect: (run.endedAtMs - run.startedAtMs) / 1000,
      publish: (publishedAtMs - run.endedAtMs) / 1000,
      sidecars: (appliedAtMs - publishedAtMs) / 1000,
    });
  }
}
