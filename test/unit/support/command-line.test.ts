import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../../src/runtime/errors.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Ended {
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}

function run(tool: string, ...words: string[]): Promise<Ended> {
  const args = ['--import', 'tsx', `test/${tool}`, ...words];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: ROOT }, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    );
  });
}

/** `main` of the first tells of the error itself, the second has none that could. */
test('a tool says what its options are, and what is wrong with those that it was given', async () => {
  const [routing, tests, unknown, number, choice] = await Promise.all([
    run('bench/routing/main.ts', '--help'),
    run('run.ts', '--help'),
    run('bench/routing/main.ts', '--sceanrio', 'low-rate'),
    run('bench/sizing.ts', '--backends', '10,,1000'),
    run('bench/footprint.ts', '--only', 'strat'),
  ]);
  assert.equal(routing.code, EXIT.ok);
  assert.match(routing.out, /^Routing quality on real Envoys/);
  assert.match(routing.out, /^ {4}--retry-disturbed {3}\S/m);
  assert.equal(tests.code, EXIT.ok);
  assert.match(tests.out, /^Runs the checks, then all tests: `npm test`\.[^]*--folder=NAME/);
  assert.doesNotMatch(tests.out, /✔|TAP version|import/);
  assert.doesNotMatch(routing.out, /^ ?\*|\*\/|import/m);
  const wrong: readonly (readonly [Ended, RegExp])[] = [
    [unknown, /^Unknown option '--sceanrio'; --help shows what there is\n$/],
    [number, /^--backends : must be a whole number from 1 to 100000\n$/],
    [choice, /^--only strat: there are start, idle, memory\n$/],
  ];
  for (const [ended, message] of wrong) {
    assert.equal(ended.code, EXIT.usage);
    assert.match(ended.err, message);
    assert.equal(ended.out, '');
  }
});
