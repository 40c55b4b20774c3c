import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Machine, starvedWords, watchMachine } from '../../../src/demo/machine.ts';
import { formatReport, type Report, reportJson } from '../../../src/demo/report.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const STARVED: Machine = { lateP99Ms: 180.4, lateMostMs: 912, load: 14.79, cores: 2 };
const WORDS =
  "the machine was short of time: of the demo's timers 1 in 100 was 180 ms late or more, the worst 912 ms; " +
  'load 14.8 on 2 cores. Repeat it when less runs beside it.';

/** As the last lines of the report have it. */
function lastLines(ok: boolean, machine: Machine): readonly string[] {
  const checks = [{ name: 'a thing', ok, measured: '3, at most 2' }];
  const report: Report = { seconds: 120, seed: 1, backends: [], summaries: [], checks, machine };
  return formatReport(report).trimEnd().split('\n').slice(-2);
}

describe('a machine that has no time for a demo', () => {
  test('is told beside what failed', () => {
    assert.deepEqual(lastLines(false, STARVED), ['FAILED a thing: 3, at most 2', `       ${WORDS}`]);
  });

  test('is not told where all holds, nor where timers were in time or not looked at', () => {
    assert.equal(lastLines(true, STARVED).at(-1), 'ok     a thing: 3, at most 2');
    for (const lateP99Ms of [49.9, Number.NaN]) {
      const machine = { ...STARVED, lateP99Ms };
      assert.equal(starvedWords(machine), undefined);
      assert.equal(lastLines(false, machine).at(-1), 'FAILED a thing: 3, at most 2');
    }
  });

  test('is told to programs in any case', () => {
    const report: Report = {
      seconds: 60,
      seed: 1,
      backends: [],
      summaries: [],
      checks: [],
      machine: STARVED,
    };
    const { machine } = JSON.parse(reportJson(report)) as { readonly machine: unknown };
    assert.deepEqual(machine, {
      timersLate: { p99Seconds: 0.1804, mostSeconds: 0.912 },
      load: 14.79,
      cores: 2,
    });
  });
});

test('how late timers are is measured, and the watch leaves no timer', async () => {
  const clock = new FakeClock();
  const end = watchMachine({
    now: () => clock.now(),
    // each comes 70 ms after it is due
    schedule: (milliseconds, callback) => clock.schedule(milliseconds + 70, callback),
  });
  await clock.advance(1000);
  const { lateP99Ms, lateMostMs, cores } = end();
  assert.deepEqual([lateP99Ms, lateMostMs, clock.pending], [70, 70, 0]);
  assert.ok(cores >= 1);
  assert.ok(Number.isNaN(watchMachine(new FakeClock())().lateP99Ms));
});
