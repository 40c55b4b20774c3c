import assert from 'node:assert/strict';
import type { Discoverer, DiscoveryObserver, Found } from '../../src/discovery/discoverer.ts';
import { waitFor } from './wait-for.ts';

/** A discoverer that runs, and all that it told. `stop` it. */
export class DiscoveryRun implements DiscoveryObserver {
  readonly lists: (readonly Found[])[] = [];
  leftOut: readonly string[] = [];
  readonly failures: string[] = [];
  /** What was told last. */
  last: 'nothing' | 'list' | 'failure' = 'nothing';
  readonly #end = new AbortController();
  readonly #ended: Promise<void>;

  constructor(discoverer: Discoverer) {
    this.#ended = discoverer.run(this, this.#end.signal);
  }

  found(list: readonly Found[], leftOut: readonly string[]): void {
    assert.equal(this.#end.signal.aborted, false, 'told after its end');
    this.lists.push(list);
    this.leftOut = leftOut;
    this.last = 'list';
  }

  failed(reason: string): void {
    assert.equal(this.#end.signal.aborted, false, 'told after its end');
    this.failures.push(reason);
    this.last = 'failure';
  }

  /** The last list, `ADDRESS:PORT` each, with `!` when it drains, in order. */
  get backends(): readonly string[] {
    return (this.lists.at(-1) ?? [])
      .map(({ address, port, draining }) => `${address}:${port}${draining === true ? '!' : ''}`)
      .toSorted();
  }

  /** Resolves when these are the backends. */
  async until(expected: readonly string[], timeoutMs = 20_000): Promise<void> {
    const wanted = [...expected].toSorted();
    try {
      await waitFor(
        'the backends',
        () => this.lists.length > 0 && JSON.stringify(this.backends) === JSON.stringify(wanted),
        timeoutMs,
      );
    } catch {
      assert.deepEqual(this.backends, wanted, `last failure: ${this.failures.at(-1) ?? 'none'}`);
    }
  }

  /** Resolves with a reason of a failure that matches. */
  failure(pattern: RegExp, timeoutMs = 20_000): Promise<string> {
    return waitFor(
      `failure ${String(pattern)}`,
      () => this.failures.find((reason) => pattern.test(reason)),
      timeoutMs,
    );
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#ended;
  }
}
