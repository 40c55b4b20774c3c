import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attack, broken } from '../../support/fuzz/attacks.ts';
import { Papers } from '../../support/fuzz/door.ts';
import { ask, encodeAsk, mutated } from '../../support/fuzz/messages.ts';
import { Siege } from '../../support/fuzz/siege.ts';
import { EVERYTHING, StreamBench, served } from '../../support/stream-bench.ts';
import { waitFor } from '../../support/wait-for.ts';

test('a stream takes any bytes without throwing, and ends or goes on', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          mutated,
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        ),
      ),
      fc.boolean(),
      (messages, warm) => {
        const bench = warm ? served() : new StreamBench();
        for (const message of messages) {
          bench.stream.receive(message);
          bench.publish(EVERYTHING);
          bench.flush();
        }
        bench.stream.sweep();
        bench.stream.close();
        assert.equal(bench.drain(), false);
      },
    ),
    { seed: 31, numRuns: 400 },
  );
});

test('a stream takes valid requests in any order without throwing', () => {
  fc.assert(
    fc.property(fc.array(ask, { maxLength: 30 }), (asks) => {
      const bench = new StreamBench();
      for (const [index, each] of asks.entries()) {
        bench.publish({
          endpoint: { a: `${index % 3}` },
          cluster: { a: `${index % 2}` },
          listener: {},
          route: {},
        });
        bench.stream.receive(encodeAsk('delta', each, bench.written.at(-1)?.nonce ?? ''));
        bench.flush();
      }
      bench.stream.close();
    }),
    { seed: 32, numRuns: 300 },
  );
});

test('hostile clients leave nothing behind, and others get every push', async () => {
  const before = process.getActiveResourcesInfo().toSorted();
  const siege = new Siege();
  await siege.start();
  await fc.assert(
    fc.asyncProperty(fc.array(attack, { maxLength: 6 }), (attacks) => siege.endure(attacks)),
    { seed: 33, numRuns: 100 },
  );
  await siege.stop();
  const { harness } = siege;
  assert.ok(harness.opened > 150, `${harness.opened} streams`);
  assert.ok(harness.log.length < 600, `${harness.log.length} log lines`);
  for (const line of harness.log) assert.ok(JSON.stringify(line).length < 4000, JSON.stringify(line));
  await waitFor('the last handle', () => {
    assert.deepEqual(process.getActiveResourcesInfo().toSorted(), before);
    return true;
  });
});

test('hostile clients behind TLS that may see little leave nothing behind', async () => {
  const papers = await Papers.issue();
  const siege = new Siege(papers);
  await siege.start();
  await fc.assert(
    fc.asyncProperty(fc.array(attack, { maxLength: 6 }), (attacks) => siege.endure(attacks)),
    { seed: 34, numRuns: 25 },
  );
  await siege.stop();
  await papers.remove();
  assert.ok(siege.harness.opened > 30, `${siege.harness.opened} streams`);
});

test('clients that break HTTP/2 are gone when they answer no ping', async () => {
  for (const papers of [undefined, await Papers.issue()]) {
    const siege = new Siege(papers, { intervalSeconds: 0.2, timeoutSeconds: 0.5 });
    await siege.start();
    await fc.assert(
      fc.asyncProperty(fc.array(broken, { minLength: 30, maxLength: 30 }), (attacks) =>
        siege.endure(attacks),
      ),
      { seed: 35, numRuns: 1 },
    );
    await siege.stop();
    await papers?.remove();
  }
});
