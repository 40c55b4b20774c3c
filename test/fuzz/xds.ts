/**
 * Attacks an xDS server with hostile clients for a while: `npm run fuzz [-- --seconds 60 --seed N]`. The seed is random
 * unless given, and printed; the same seed makes the same attacks. A failure is shrunk and printed, exit code 1.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { attack } from '../support/fuzz/attacks.ts';
import { Siege } from '../support/fuzz/siege.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
console.log(`seed ${seed}, ${seconds} s`);

/** Each batch has the seed after that of the one before. */
const BATCH_RUNS = 200;

const siege = new Siege();
await siege.start();
const begun = performance.now();
const elapsedSeconds = (): number => (performance.now() - begun) / 1000;
let runs = 0;
for (let batch = 0; elapsedSeconds() < seconds; batch++) {
  await fc.assert(
    fc.asyncProperty(fc.array(attack, { maxLength: 12 }), async (attacks) => {
      await siege.endure(attacks);
      runs++;
    }),
    { seed: seed + batch, numRuns: BATCH_RUNS },
  );
  report();
}
await siege.stop();

function report(): void {
  globalThis.gc?.();
  const { harness } = siege;
  const refused = new Map<string, number>();
  for (const limit of harness.refused) refused.set(limit, (refused.get(limit) ?? 0) + 1);
  console.log(
    [
      `${elapsedSeconds().toFixed(0)} s`,
      `${runs} runs`,
      `${harness.opened} streams`,
      `${harness.rejected} rejections`,
      `${harness.log.length} log lines`,
      `heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB`,
      ...[...refused].map(([limit, count]) => `${limit} ${count}`),
    ].join(', '),
  );
}
