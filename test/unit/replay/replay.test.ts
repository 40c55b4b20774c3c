import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { SampleFeed } from '../../../src/admin/sample-feed.ts';
import type { SampleLine } from '../../../src/admin/sample-shape.ts';
import { evaluate, type GroupState, initialState } from '../../../src/core/evaluate.ts';
import type { CollectOutcome } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import type { GroupStatus } from '../../../src/core/model/group-status.ts';
import { Replay } from '../../../src/replay/replay.ts';
import { Survey } from '../../../src/replay/survey.ts';
import { backends, loadAwareGroup, outcomeOf, PROPORTIONAL } from '../../support/fleet.ts';

const SETTINGS = loadAwareGroup(backends(4), { saturation: PROPORTIONAL });

class Told extends EventEmitter {
  readonly lines: SampleLine[] = [];
  readonly writableLength = 0;

  write(bytes: Buffer): void {
    this.lines.push(JSON.parse(bytes.toString()) as SampleLine);
  }
}

/** A control plane that evaluates each second; its clock is its own. */
class Process {
  readonly #feed: SampleFeed;
  #nowMs: number;
  #state: GroupState = initialState();
  #step = 0;
  #newest: GroupDecision | undefined;
  pushes = 0;

  constructor(instance: string, nowMs: number, unixMs: number) {
    this.#nowMs = nowMs;
    this.#feed = new SampleFeed({
      origin: () => ({
        version: '1',
        instance,
        startedAt: 0,
        now: unixMs - nowMs + this.#nowMs,
        nowMs: this.#nowMs,
      }),
      status: () => this.#newest && ({ newest: this.#newest } as GroupStatus),
    });
    this.#feed.configure([SETTINGS]);
  }

  /** @returns what it tells meanwhile */
  run(seconds: number): readonly SampleLine[] {
    const told = new Told();
    this.#feed.add(told as unknown as ServerResponse);
    for (let second = 0; second < seconds; second++) this.#evaluate();
    told.emit('close');
    return told.lines;
  }

  #evaluate(): void {
    const step = ++this.#step;
    this.#nowMs += 1000;
    const nowMs = this.#nowMs;
    const outcomes = new Map<string, CollectOutcome>();
    for (const [index, { id }] of SETTINGS.servers.entries()) {
      const running = 8 + 5 * index + ((step * (3 + index)) % 7) * 3;
      const sample = { queued: 0, running, kvUtilization: running / 80, finished: step * (4 - 0.5 * index) };
      const outcome = outcomeOf(sample, nowMs - 7);
      if (outcome !== undefined) outcomes.set(id, outcome);
    }
    const run = { startedAtMs: nowMs - 50, endedAtMs: nowMs - 1, outcomes };
    const { state, decision } = evaluate(this.#state, { group: SETTINGS, nowMs, run, delaySeconds: 0.1 });
    this.#state = state;
    this.#newest = decision;
    if (decision.publish !== undefined) this.pushes++;
    this.#feed.evaluated(decision, run);
  }
}

function replayed(lines: readonly SampleLine[], settings = SETTINGS) {
  const survey = new Survey(() => true);
  for (const line of lines) survey.take(line);
  const surveyed = survey.groups.get(SETTINGS.name);
  assert.ok(surveyed?.span !== undefined);
  const replay = new Replay(settings, surveyed, surveyed.span);
  for (const line of lines) replay.take(line);
  return { report: replay.report, survey };
}

test('a longer Interval leaves out nothing of what was published, nor of the recorded configuration', () => {
  const process = new Process('a', 1000, 0);
  const lines = process.run(300);
  const { report: same } = replayed(lines);
  assert.deepEqual([same.was.pushes, same.evaluations], [process.pushes, 300]);
  for (const intervalSeconds of [2, 5]) {
    const slower = loadAwareGroup(backends(4), { saturation: PROPORTIONAL, intervalSeconds });
    const { report } = replayed(lines, slower);
    assert.equal(report.evaluations, 300 / intervalSeconds);
    assert.deepEqual(report.was, same.was);
    assert.deepEqual(report.baseline?.figures, same.was);
    assert.deepEqual(
      report.backends.map(({ was }) => was),
      same.backends.map(({ was }) => was),
    );
    assert.equal(report.baseline?.identicalEvaluations, report.evaluations);
    assert.ok(report.would.pushes <= report.evaluations);
  }
});

test('a recording that changes to another replica and back: each begins anew, by its own clock', () => {
  const DAY = 86_400_000;
  for (const order of [
    ['a', 'b'],
    ['a', 'b', 'a'],
    ['a', 'b', 'a', 'b'],
  ]) {
    const replicas = { a: new Process('a', 10 * DAY, 10 * DAY), b: new Process('b', 3_600_000, 10 * DAY) };
    const visits = order.map((name) => {
      const [told, other] = name === 'a' ? [replicas.a, replicas.b] : [replicas.b, replicas.a];
      const lines = told.run(120);
      other.run(120);
      return lines;
    });
    const { report, survey } = replayed(visits.flat());
    const warmUps = 24 * (order.length - 1);
    assert.deepEqual([survey.changes, report.warmUpEvaluations], [order.length - 1, warmUps], order.join(''));
    assert.equal(report.evaluations, 120 * order.length - warmUps);
    // of each that told before, what it did in between
    assert.equal(report.missedEvaluations, 120 * Math.max(0, order.length - 2));
    // all but the first visit begin late, as a recording of nothing else would
    const apart = visits.map((lines) => replayed(lines).report);
    const sum = (of: (one: (typeof apart)[number]) => number) =>
      apart.reduce((total, one) => total + of(one), 0);
    assert.equal(
      report.identicalEvaluations,
      sum((one) => one.identicalEvaluations),
    );
    const moved = sum((one) => one.movedShareRatio * one.evaluations) / report.evaluations;
    assert.ok(
      Math.abs(report.movedShareRatio - moved) < 1e-9,
      `${order.join('')}: ${report.movedShareRatio}, ${moved}`,
    );
  }
});
