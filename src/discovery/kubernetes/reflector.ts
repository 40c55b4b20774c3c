import { type Clock, sleep } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import { printable } from '../../runtime/text.ts';
import type { AccessSource } from './access.ts';
import { ApiConnection, type Query } from './api-connection.ts';
import { Backoff } from './backoff.ts';
import { type ApiFailure, failureOf, inWords, oddAnswer, type Resource } from './failure.ts';
import { fieldOf, listOf, numberOf, textOf } from './json.ts';
import { KeptObjects } from './kept-objects.ts';
import { isAtLeast } from './resource-version.ts';

/** The server ends a watch after about this time, of which a random half is cut so that they do not all end at once. */
const WATCH_SECONDS = 600;
/** A watch that stood for so long was a good one. */
const STEADY_MS = 10_000;
/** A list is asked for at least so often, whatever the watches say. */
const LIST_MS = 3_600_000;
/** From the first change until it is told: changes come in crowds. */
const CROWD_MS = 100;
/** The reconnect after a good watch comes within this time. */
const SPREAD_MS = 250;
/** Objects are counted as {@link Wanted.weigh} says. */
const WEIGHT_MAX = 50_000;
/** Of a list, whatever their size. */
const PAGES_MAX = 10_000;

/** What is read, and what is kept of it. */
export interface Wanted<T> {
  readonly resource: Resource;
  /** `labelSelector` or `fieldSelector` */
  readonly selector: Query;
  /** Objects of one page of a list. */
  readonly pageSize: number;
  /** What is needed of an object, and nothing else: it stays in memory. It takes any JSON. */
  readonly keep: (object: unknown) => T;
  /** How many backends an object is good for. */
  readonly weigh: (kept: T) => number;
}

export interface ReflectorObserver<T> {
  /** All objects, by name. The first time when the first list is complete. */
  changed(objects: ReadonlyMap<string, T>): void;
  /** The API cannot be read; what was told last stands. Called at each attempt that fails. */
  failed(reason: string): void;
}

export interface ReflectorOptions<T> {
  readonly wanted: Wanted<T>;
  readonly access: AccessSource;
  readonly clock: Clock;
  /** 0 (inclusive) .. 1 (exclusive), for waits */
  readonly random: () => number;
  readonly observer: ReflectorObserver<T>;
}

/**
 * The objects of a list as they are now: a list, then a watch from its version on. A watch that ends, breaks off or hangs
 * is taken up where it was. It begins with a list again when its version is too old (410), and when the API server has an
 * older state than before, as after etcd was restored (kubernetes/kubernetes#107457): a watch from a version to come
 * would be silent.
 *
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
export class Reflector<T> {
  readonly #wanted: Wanted<T>;
  readonly #access: AccessSource;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #observer: ReflectorObserver<T>;
  readonly #backoff: Backoff;
  #objects: KeptObjects<T>;
  /** undefined: the next thing is a list. */
  #version: string | undefined;
  #listedAtMs = 0;
  #openedAtMs: number | undefined;
  #hasFailed = false;
  #isUnauthorized = false;
  #cancelTelling: (() => void) | undefined;
  #signal: AbortSignal | undefined;

  constructor({ wanted, access, clock, random, observer }: ReflectorOptions<T>) {
    this.#wanted = wanted;
    this.#access = access;
    this.#clock = clock;
    this.#random = random;
    this.#observer = observer;
    this.#backoff = new Backoff(random);
    this.#objects = this.#none();
  }

  /** Runs until the signal ends it. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    while (!signal.aborted) {
      this.#openedAtMs = undefined;
      const failure = await this.#round(signal);
      if (signal.aborted) break;
      await sleep(this.#clock, this.#judge(failure), signal);
    }
    this.#cancelTelling?.();
  }

  async #round(signal: AbortSignal): Promise<ApiFailure | undefined> {
    let connection: ApiConnection;
    try {
      connection = new ApiConnection(await this.#access(this.#isUnauthorized, signal), this.#clock, signal);
    } catch (error) {
      const reason = `cannot read ${inWords(this.#wanted.resource)}: ${printable(messageOf(error), 400)}`;
      return { kind: 'unreachable', reason };
    }
    try {
      if (this.#clock.now() - this.#listedAtMs >= LIST_MS) this.#version = undefined;
      const failure =
        (this.#version === undefined ? undefined : await this.#compare(connection, this.#version)) ??
        (this.#version === undefined ? await this.#list(connection) : undefined);
      return failure ?? (await this.#watch(connection));
    } finally {
      connection.close();
    }
  }

  /** @returns how long to wait, ms. */
  #judge(failure: ApiFailure | undefined): number {
    const { resource } = this.#wanted;
    const isSteady = this.#openedAtMs !== undefined && this.#clock.now() - this.#openedAtMs >= STEADY_MS;
    if (isSteady) this.#backoff.reset();
    const kind = failure?.kind ?? 'ended';
    if (kind !== 'ended' && kind !== 'cut') this.#version = undefined;
    const isUsual = kind === 'ended' || kind === 'cut' || kind === 'expired';
    this.#isUnauthorized = kind === 'unauthorized';
    if (!isUsual || this.#backoff.attempts >= 2) {
      if (this.#cancelTelling !== undefined) this.#tell();
      this.#hasFailed = true;
      this.#observer.failed(failure?.reason ?? `the watch of ${inWords(resource)} ends again and again`);
    }
    if (isUsual && isSteady) return this.#random() * SPREAD_MS;
    return this.#backoff.next(failure?.retryAfterMs);
  }

  // ---------------------------------------------------------------- list

  /** Changes nothing before the last page is there. */
  async #list(connection: ApiConnection): Promise<ApiFailure | undefined> {
    const { resource, selector, pageSize } = this.#wanted;
    const objects = this.#none();
    let page = '';
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const query = { ...selector, limit: String(pageSize), ...(page !== '' && { continue: page }) };
      const answer = await connection.list(resource, query);
      if (answer.kind === 'failure') return answer.failure;
      const { body } = answer;
      const version = textOf(body, 'metadata', 'resourceVersion');
      if (version === undefined || !Array.isArray(fieldOf(body, 'items'))) {
        return oddAnswer('list', resource, 'something that is no list');
      }
      for (const item of listOf(body, 'items')) {
        const name = textOf(item, 'metadata', 'name') ?? '';
        if (objects.set(name, this.#wanted.keep(item)) === 'full') return this.#tooMany();
      }
      page = textOf(body, 'metadata', 'continue') ?? '';
      if (page !== '') continue;
      this.#objects = objects;
      this.#version = version;
      this.#listedAtMs = this.#clock.now();
      this.#tell();
      return undefined;
    }
    return this.#tooMany();
  }

  /** Gives up a version that the server has not come to yet. */
  async #compare(connection: ApiConnection, version: string): Promise<ApiFailure | undefined> {
    const { resource, selector } = this.#wanted;
    const answer = await connection.list(resource, { ...selector, limit: '1' });
    if (answer.kind === 'failure') return answer.failure;
    const current = textOf(answer.body, 'metadata', 'resourceVersion') ?? '';
    if (!isAtLeast(current, version)) this.#version = undefined;
    return undefined;
  }

  // ---------------------------------------------------------------- watch

  #watch(connection: ApiConnection): Promise<ApiFailure | undefined> {
    const { resource, selector } = this.#wanted;
    const query = {
      ...selector,
      resourceVersion: this.#version ?? '',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(Math.round(WATCH_SECONDS * (1 - this.#random() / 2))),
    };
    return connection.watch(resource, query, {
      opened: () => {
        this.#openedAtMs = this.#clock.now();
        if (this.#hasFailed) this.#tell();
      },
      event: (event) => this.#take(event),
    });
  }

  #take(event: unknown): ApiFailure | undefined {
    const object = fieldOf(event, 'object');
    const type = textOf(event, 'type');
    if (type === 'ERROR') {
      return failureOf('watch', this.#wanted.resource, numberOf(object, 'code') ?? 0, object);
    }
    const version = textOf(object, 'metadata', 'resourceVersion');
    const name = textOf(object, 'metadata', 'name');
    if (version === undefined) return oddAnswer('watch', this.#wanted.resource, 'an event without a version');
    if (type === 'ADDED' || type === 'MODIFIED') {
      if (name === undefined) return oddAnswer('watch', this.#wanted.resource, 'an object without a name');
      const change = this.#objects.set(name, this.#wanted.keep(object));
      if (change === 'full') return this.#tooMany();
      if (change === 'changed') this.#tellSoon();
    } else if (type === 'DELETED') {
      if (this.#objects.delete(name ?? '')) this.#tellSoon();
    } else if (type !== 'BOOKMARK') {
      return oddAnswer('watch', this.#wanted.resource, 'an event of a type that there is not');
    }
    this.#version = version;
    return undefined;
  }

  #tellSoon(): void {
    this.#cancelTelling ??= this.#clock.schedule(CROWD_MS, () => {
      this.#tell();
    });
  }

  #tell(): void {
    this.#cancelTelling?.();
    this.#cancelTelling = undefined;
    // an answer may have been complete just before the end
    if (this.#signal?.aborted === true) return;
    this.#hasFailed = false;
    this.#observer.changed(this.#objects.all);
  }

  #none(): KeptObjects<T> {
    return new KeptObjects(WEIGHT_MAX, this.#wanted.weigh);
  }

  #tooMany(): ApiFailure {
    const reason = `more than ${WEIGHT_MAX} backends in ${inWords(this.#wanted.resource)}`;
    return { kind: 'refused', reason };
  }
}
