/**
 * Attacks an xDS server with hostile clients for a while: `npm run fuzz [-- --seconds 60 --seed N]`. The seed is random
 * unless given, and printed; the same seed makes the same attacks. A failure is shrunk and printed, exit code 1.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { numberOption, optionsOf } from '../support/command-line.ts';
import { attack, broken } from '../support/fuzz/attacks.ts';
import { Papers } from '../support/fuzz/door.ts';
import { Siege } from '../support/fuzz/siege.ts';

const values = optionsOf(import.meta.url, {
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: String(randomInt(2 ** 31)) },
});
const seconds = numberOption('--seconds', values.seconds);
const seed = numberOption('--seed', values.seed, { least: 0, most: 2 ** 31 });
console.log(`seed ${seed}, ${seconds} s`);

/** One batch of each kind after the other, each with the seed after that of the one before. */
const papers = await Papers.issue();
const PINGS = { intervalSeconds: 0.2, timeoutSeconds: 0.5 };
const KINDS = [
  { name: 'plain text', siege: new Siege(), attacks: fc.array(attack, { maxLength: 12 }), runs: 200 },
  { name: 'TLS', siege: new Siege(papers), attacks: fc.array(attack, { maxLength: 12 }), runs: 50 },
  {
    name: 'broken',
    siege: new Siege(undefined, PINGS),
    attacks: fc.array(broken, { maxLength: 40 }),
    runs: 5,
  },
] as const;

const begun = performance.now();
const elapsedSeconds = (): number => (performance.now() - begun) / 1000;
let runs = 0;
for (const { siege } of KINDS) await siege.start();
for (let batch = 0; elapsedSeconds() < seconds; batch++) {
  const kind = KINDS[batch % KINDS.length] ?? KINDS[0];
  await fc.assert(
    fc.asyncProperty(kind.attacks, async (attacks) => {
      await kind.siege.endure(attacks);
      runs++;
    }),
    { seed: seed + batch, numRuns: kind.runs },
  );
  report(kind.name, kind.siege);
}
for (const { siege } of KINDS) await siege.stop();
await papers.remove();

function report(name: string, { harness }: Siege): void {
  globalThis.gc?.();
  const refused = new Map<string, number>();
  for (const limit of harness.refused) refused.set(limit, (refused.get(limit) ?? 0) + 1);
  console.log(
    [
      `${elapsedSeconds().toFixed(0)} s`,
      name,
      `${runs} runs`,
      `${harness.opened} streams`,
      `${harness.rejected} rejections`,
      `${harness.log.length} log lines`,
      `heap ${(process.memoryUsage().heapUsed / 1e6).toFixed(0)} MB`,
      ...[...refused].map(([limit, count]) => `${limit} ${count}`),
    ].join(', '),
  );
}
