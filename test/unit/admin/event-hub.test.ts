import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { EventHub } from '../../../src/admin/event-hub.ts';
import type { StateNews } from '../../../src/admin/live-state.ts';
import type { State } from '../../../src/admin/state-shape.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Takes what it is given, or not. */
class FakeResponse extends EventEmitter {
  readonly written: string[] = [];
  takes = true;
  destroyed = false;
  ended = false;

  write(bytes: string | Buffer): boolean {
    this.written.push(bytes.toString());
    return this.takes;
  }

  drain(): void {
    this.takes = true;
    this.emit('drain');
  }

  end(): void {
    this.ended = true;
    this.emit('close');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  get as(): ServerResponse {
    return this as unknown as ServerResponse;
  }

  /** `state 3`, `change 4`, … since the last call. */
  events(): readonly string[] {
    return this.written.splice(0).flatMap((text) => {
      const match = /^id: (\d+)\nevent: (\w+)\ndata: .*\n\n$/.exec(text);
      return match === null ? [] : [`${match[2]} ${match[1]}`];
    });
  }
}

/** Numbers what it tells, and counts how often it is asked. */
class FakeSource {
  wholes = 0;
  asked = 0;
  next: StateNews | undefined;

  whole(): State {
    return { now: ++this.wholes } as State;
  }

  news(): StateNews {
    this.asked++;
    const { next = { kind: 'change', change: { now: this.asked, ready: true } } } = this;
    return next;
  }
}

function start(limit = 3) {
  const clock = new FakeClock();
  const source = new FakeSource();
  const hub = new EventHub({ source, clock, limit });
  const join = (): FakeResponse => {
    const response = new FakeResponse();
    hub.add(response.as);
    return response;
  };
  return { clock, source, hub, join };
}

test('while nobody is there nothing is asked for and nothing is scheduled', async () => {
  const { clock, source, join } = start();
  await clock.advance(10_000);
  assert.deepEqual([source.asked, source.wholes, clock.pending], [0, 0, 0]);
  const response = join();
  await clock.advance(3_000);
  assert.equal(source.asked, 3);
  response.end();
  await clock.advance(10_000);
  assert.deepEqual([source.asked, clock.pending], [3, 0]);
});

test('each gets the whole first, then what changes, which is asked for once for all', async () => {
  const { clock, source, join } = start();
  const [one, other] = [join(), join()];
  assert.equal(source.wholes, 1);
  await clock.advance(2_000);
  assert.deepEqual(one.events(), ['state 1', 'change 3', 'change 4']);
  assert.deepEqual(other.events(), ['state 2', 'change 3', 'change 4']);
  const late = join();
  assert.equal(source.wholes, 2, 'who comes after a change gets a state that has it');
  await clock.advance(1_000);
  assert.deepEqual(late.events(), ['state 5', 'change 6']);
  assert.equal(source.asked, 3);
});

test('without news there is a sign of life each 5 s', async () => {
  const { clock, source, join } = start();
  const response = join();
  source.next = { kind: 'change', change: { now: 1 } };
  await clock.advance(4_000);
  assert.deepEqual(response.events(), ['state 1']);
  await clock.advance(6_000);
  assert.deepEqual(response.events(), ['change 2', 'change 3']);
});

test('a slow reader is told the whole when it is ready; nothing is queued for it', async () => {
  const { clock, join } = start();
  const [slow, fast] = [join(), join()];
  slow.events();
  fast.events();
  slow.takes = false;
  await clock.advance(4_000);
  assert.equal(slow.events().length, 1);
  assert.equal(fast.events().length, 4);
  slow.drain();
  await clock.advance(1_000);
  assert.match(slow.events().join(), /^state \d+$/);
  await clock.advance(1_000);
  assert.match(slow.events().join(), /^change \d+$/);
});

test('one that takes nothing for 10 s is dropped', async () => {
  const { clock, join, hub } = start();
  const stuck = join();
  stuck.takes = false;
  await clock.advance(11_000);
  assert.ok(!stuck.destroyed);
  await clock.advance(2_000);
  assert.ok(stuck.destroyed);
  assert.equal(hub.size, 0);
  assert.equal(clock.pending, 0);
});

test('one that takes nothing for 10 s is dropped, on a real socket', async (t) => {
  const { clock, hub, source } = start();
  source.whole = () => ({ instance: 'x'.repeat(32 * 1024 * 1024) }) as State;
  const server = createServer((_request, response) => {
    hub.add(response.writeHead(200));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause().write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  t.after(() => {
    client.destroy();
    server.close();
  });
  await waitFor('the client', () => hub.size === 1);
  await clock.advance(13_000);
  await waitFor('its end', () => hub.size === 0);
});

test('only so many at a time; the end ends all', async () => {
  const { clock, hub, join } = start(2);
  const [one, other] = [join(), join()];
  assert.ok(hub.isFull);
  one.end();
  assert.ok(!hub.isFull);
  hub.close();
  assert.ok(other.ended);
  await clock.advance(5_000);
  assert.equal(clock.pending, 0);
});
