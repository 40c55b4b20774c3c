import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_ENGINE } from '../../../src/demo/engine.ts';
import { LoadReports } from '../../../src/demo/load-report.ts';

const SETTINGS = { ...DEFAULT_ENGINE, slots: 10 };
const QUIET = { running: 0, waiting: 0, kvUtilization: 0 };

function numbers(report: string): readonly number[] {
  const [, ...texts] = /^TEXT application_utilization:(.+),rps_fractional:(.+),eps:(.+)$/.exec(report) ?? [];
  return texts.map(Number);
}

test('nothing has happened yet', () => {
  assert.equal(
    new LoadReports().render(QUIET, SETTINGS, 5),
    'TEXT application_utilization:0.0000,rps_fractional:0.0000,eps:0.0000',
  );
});

test('utilisation is of the slots, with the queue, or of the KV cache', () => {
  const reports = new LoadReports();
  const of = (running: number, waiting: number, kvUtilization: number) =>
    numbers(reports.render({ running, waiting, kvUtilization }, SETTINGS, 0))[0];
  assert.deepEqual([of(5, 0, 0.2), of(10, 5, 0.2), of(5, 0, 0.75)], [0.5, 1.5, 0.75]);
});

test('rates are of the last seconds; failures count as requests too', () => {
  const reports = new LoadReports();
  for (let nowMs = 0; nowMs < 30_000; nowMs += 250) reports.finished(nowMs);
  for (let nowMs = 30_000; nowMs < 60_000; nowMs += 250) {
    reports.finished(nowMs);
    reports.failed(nowMs);
  }
  const [, requests, errors] = numbers(reports.render(QUIET, SETTINGS, 60_000));
  assert.ok(Math.abs(requests! - 8) < 0.3, String(requests));
  assert.ok(Math.abs(errors! - 4) < 0.3, String(errors));
  const [, later] = numbers(reports.render(QUIET, SETTINGS, 90_000));
  assert.ok(later! < 0.05, String(later));
});

test('in the beginning rates are not underestimated', () => {
  const reports = new LoadReports();
  for (let nowMs = 10_000; nowMs < 12_000; nowMs += 100) reports.finished(nowMs);
  const [, requests] = numbers(reports.render(QUIET, SETTINGS, 12_000));
  assert.ok(Math.abs(requests! - 10) < 1, String(requests));
});
