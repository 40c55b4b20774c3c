import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Snapshot, SnapshotStore } from '../../../src/publish/snapshot-store.ts';
import { Feeds } from '../../../src/xds/feeds.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { snapshot } from '../../support/snapshots.ts';

/** Counts those who follow it. */
class CountedStore extends SnapshotStore {
  followers = 0;

  override subscribe(listener: (snapshot: Snapshot) => void): () => void {
    const unsubscribe = super.subscribe(listener);
    this.followers++;
    return () => {
      unsubscribe();
      this.followers--;
    };
  }
}

function reader() {
  const counted = {
    pushes: 0,
    push: () => {
      counted.pushes++;
      return 0;
    },
  };
  return counted;
}

test('readers of one source share a feed, and all are told of a new snapshot', () => {
  const feeds = new Feeds(new FakeClock());
  const [red, blue] = [new CountedStore(), new CountedStore()];
  red.set(snapshot({ cluster: { a: '1' } }));
  const readers = [reader(), reader(), reader()] as const;
  const first = feeds.join(red, readers[0]);
  const second = feeds.join(red, readers[1]);
  const third = feeds.join(blue, readers[2]);
  assert.equal(first.feed, second.feed);
  assert.notEqual(first.feed, third.feed);
  assert.equal(first.feed.view(TYPE_URLS.cluster)?.resources.size, 1);
  assert.equal(third.feed.view(TYPE_URLS.cluster), undefined);
  red.set(snapshot({ cluster: { a: '1', b: '1' } }));
  assert.equal(second.feed.view(TYPE_URLS.cluster)?.resources.size, 2);
  assert.deepEqual(
    readers.map(({ pushes }) => pushes),
    [1, 1, 0],
  );
});

test('a source is followed as long as it has readers', () => {
  const feeds = new Feeds(new FakeClock());
  const store = new CountedStore();
  const [one, other] = [reader(), reader()];
  const seats = [feeds.join(store, one), feeds.join(store, other)] as const;
  assert.equal(store.followers, 1);
  seats[0].leave();
  store.set(snapshot({}));
  assert.deepEqual([one.pushes, other.pushes], [0, 1]);
  seats[1].leave();
  seats[1].leave();
  assert.equal(store.followers, 0);
  feeds.join(store, one);
  seats[0].leave();
  assert.equal(store.followers, 1, 'leaving an earlier feed does not end the new one');
});

test('after closing nobody is told', () => {
  const feeds = new Feeds(new FakeClock());
  const store = new CountedStore();
  const one = reader();
  const seat = feeds.join(store, one);
  feeds.close();
  store.set(snapshot({}));
  assert.equal(one.pushes, 0);
  assert.equal(store.followers, 0);
  seat.leave();
  assert.equal(store.followers, 0);
});
