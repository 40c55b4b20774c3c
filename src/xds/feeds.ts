import type { Snapshot, SnapshotSource } from '../publish/snapshot-store.ts';
import type { Clock } from '../runtime/clock.ts';
import { Feed } from './feed.ts';
import { type FeedReader, Spread } from './spread.ts';

/** A place at a feed. */
export interface Seat {
  readonly feed: Feed;
  leave(): void;
}

interface Table {
  readonly feed: Feed;
  readonly readers: Set<FeedReader>;
  readonly stop: () => void;
}

/** The feeds of the sources that have readers: one for all readers of a source, which it follows as long as there are any. */
export class Feeds {
  readonly #clock: Clock;
  readonly #tables = new Map<SnapshotSource, Table>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  join(source: SnapshotSource, reader: FeedReader): Seat {
    const table = this.#tables.get(source) ?? this.#open(source);
    table.readers.add(reader);
    return {
      feed: table.feed,
      leave: () => {
        table.readers.delete(reader);
        if (table.readers.size === 0) this.#close(source, table);
      },
    };
  }

  /** Follows no source any more: there is no further push. */
  close(): void {
    for (const [source, table] of this.#tables) this.#close(source, table);
  }

  #open(source: SnapshotSource): Table {
    const feed = new Feed();
    const readers = new Set<FeedReader>();
    if (source.current !== undefined) feed.accept(source.current);
    const spread = new Spread(readers, this.#clock);
    const unsubscribe = source.subscribe((snapshot: Snapshot) => {
      feed.accept(snapshot);
      spread.begin();
    });
    const stop = (): void => {
      unsubscribe();
      spread.stop();
    };
    const table = { feed, readers, stop };
    this.#tables.set(source, table);
    return table;
  }

  #close(source: SnapshotSource, table: Table): void {
    if (this.#tables.get(source) !== table) return;
    this.#tables.delete(source);
    table.stop();
  }
}
