import type { Snapshot, SnapshotSource } from '../publish/snapshot-store.ts';
import { Feed } from './feed.ts';

/** What is told of each new snapshot. */
export interface FeedReader {
  push(): void;
}

/** A place at a feed. */
export interface Seat {
  readonly feed: Feed;
  leave(): void;
}

interface Table {
  readonly feed: Feed;
  readonly readers: Set<FeedReader>;
  readonly unsubscribe: () => void;
}

/** The feeds of the sources that have readers: one for all readers of a source, which it follows as long as there are any. */
export class Feeds {
  readonly #tables = new Map<SnapshotSource, Table>();

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
    const unsubscribe = source.subscribe((snapshot: Snapshot) => {
      feed.accept(snapshot);
      for (const reader of readers) reader.push();
    });
    const table = { feed, readers, unsubscribe };
    this.#tables.set(source, table);
    return table;
  }

  #close(source: SnapshotSource, table: Table): void {
    if (this.#tables.get(source) !== table) return;
    this.#tables.delete(source);
    table.unsubscribe();
  }
}
