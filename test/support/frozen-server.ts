/**
 * The server of the test with clients that read nothing, a process of its own so that its memory is its own. Time
 * stands but for what each push takes and what it is told to pass. Each message from the parent is answered by one.
 */
import { randomBytes } from 'node:crypto';
import type { Resource } from '../../src/publish/snapshot-store.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { FakeClock } from './fake-clock.ts';
import { waitFor } from './wait-for.ts';
import { XdsHarness } from './xds-harness.ts';

export type Command =
  /** Publishes a resource `a` of so many bytes and waits until so many clients have acknowledged it. */
  | { readonly kind: 'push'; readonly version: string; readonly bytes: number; readonly readers: number }
  /** Waits until so many streams are open. */
  | { readonly kind: 'streams'; readonly count: number }
  | { readonly kind: 'advance'; readonly milliseconds: number }
  | { readonly kind: 'stop' };

export interface Answer {
  readonly port: number;
  /** Memory in use after a garbage collection: heap and what buffers hold outside of it. */
  readonly usedBytes: number;
  readonly residentBytes: number;
  readonly refused: readonly string[];
}

/** What passes with a push. */
const PUSH_MS = 100;

const clock = new FakeClock();
const harness = new XdsHarness({ clock });
const { port } = await harness.listen();

function answer(): void {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { refused } = harness;
  process.send?.({ port, usedBytes: heapUsed + external, residentBytes: rss, refused } satisfies Answer);
}

async function push(version: string, bytes: number, readers: number): Promise<void> {
  const before = harness.acknowledged;
  const resource: Resource = {
    typeUrl: TYPE_URLS.endpoint,
    name: 'a',
    version,
    serverGroup: 'a',
    bytes: randomBytes(bytes),
  };
  harness.store.set({
    resources: new Map([[TYPE_URLS.endpoint, new Map([['a', resource]])]]),
    held: new Map(),
    assignments: new Map(),
  });
  await waitFor('the acknowledgements', () => harness.acknowledged === before + readers);
  await clock.advance(PUSH_MS);
}

async function follow(command: Command): Promise<void> {
  switch (command.kind) {
    case 'push':
      await push(command.version, command.bytes, command.readers);
      break;
    case 'streams':
      await waitFor('the streams', () => harness.streams === command.count);
      break;
    case 'advance':
      await clock.advance(command.milliseconds);
      break;
    case 'stop':
      await harness.server.stop();
      process.disconnect();
      return;
  }
  answer();
}

process.on('message', (command: Command) => {
  void follow(command);
});
answer();
