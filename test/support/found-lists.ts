import type { DiscoveryObserver, Found } from '../../src/discovery/discoverer.ts';
import { formatHostPort } from '../../src/runtime/host-port.ts';

/** What a discoverer told last, and how often. */
export class FoundLists implements DiscoveryObserver {
  lists: (readonly Found[])[] = [];
  reasons: string[] = [];
  leftOut: readonly string[] = [];

  found(list: readonly Found[], leftOut: readonly string[]): void {
    this.lists.push(list);
    this.leftOut = leftOut;
  }

  failed(reason: string): void {
    this.reasons.push(reason);
  }

  /** `ADDRESS:PORT` of the last list, sorted. */
  get last(): readonly string[] {
    return (this.lists.at(-1) ?? []).map(({ address, port }) => formatHostPort(address, port)).sort();
  }

  /** `ADDRESS:PORT` and weight of the last list. */
  get weights(): Readonly<Record<string, number | undefined>> {
    const list = this.lists.at(-1) ?? [];
    return Object.fromEntries(
      list.map(({ address, port, weight }) => [formatHostPort(address, port), weight]),
    );
  }
}
