import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { attack } from '../../support/fuzz/attacks.ts';
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
