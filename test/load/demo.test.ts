import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { children, runDemoUntil } from '../support/demo-run.ts';

describe('demo', () => {
  test('plays all acts, every check holds, stays up, and leaves nothing behind', async () => {
    const { code, out, shown } = await runDemoUntil(/^staying up.*control plane up.*score \d/);
    const report = JSON.parse(out) as {
      readonly ok: boolean;
      readonly acts: readonly {
        readonly act: number;
        readonly requests: number;
        readonly settled: { readonly toldToRefuseRatio: number; readonly refusedRatio: number };
      }[];
      readonly checks: readonly { readonly name: string; readonly ok: boolean }[];
    };
    assert.deepEqual(
      report.acts.map(({ act }) => act),
      [1, 2, 3, 4, 5],
    );
    const [plain, loadAware] = report.acts;
    assert.equal(plain?.requests, loadAware?.requests);
    assert.ok(report.acts.every(({ requests }) => requests > 0));
    assert.deepEqual(
      report.checks.map(({ ok }) => ok),
      [true, true, true, true, true, true],
      JSON.stringify(report, null, 2),
    );
    assert.deepEqual([report.ok, code], [true, 0]);
    const { toldToRefuseRatio: told, refusedRatio: refused } = report.acts[2]?.settled ?? {};
    assert.ok(Math.abs((told ?? 0) - (refused ?? 1)) < 0.15, `told to refuse ${told}, refused ${refused}`);
    const lines = shown.join('');
    for (let act = 1; act <= 5; act++) assert.match(lines, new RegExp(`^act ${act}: `, 'm'));
    assert.match(lines, /^act 3.* p [1-9]\d?%/m);
    assert.match(lines, /^act 5.*control plane down.*weight \d/m);
    assert.match(lines, /^act +requests/m);
    const address = /^page {3}http:\/\/([\d.:]+)\/\ntop {4}plimsoll top --admin http:\/\/\1$/m.exec(
      lines,
    )?.[1];
    assert.ok(address !== undefined && lines.indexOf(address) < lines.indexOf('act 1: '), lines);
    assert.deepEqual(children(), []);
  });
});
