import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { SampleFeed } from '../../../src/admin/sample-feed.ts';
import type { SampleLine } from '../../../src/admin/sample-shape.ts';
import { evaluate, initialState } from '../../../src/core/evaluate.ts';
import type { CollectOutcome } from '../../../src/core/model/collection.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import type { GroupStatus } from '../../../src/core/model/group-status.ts';
import type { ServerGroup } from '../../../src/core/model/server-group.ts';
import { GroupReplay, type ReplayStep } from '../../../src/replay/group-replay.ts';
import {
  type Answer,
  backends,
  type FleetOptions,
  loadAwareGroup,
  outcomeOf,
  PROPORTIONAL,
} from '../../support/fleet.ts';

class Told extends EventEmitter {
  readonly lines: SampleLine[] = [];
  readonly writableLength = 0;

  write(bytes: Buffer): void {
    this.lines.push(JSON.parse(bytes.toString()) as SampleLine);
  }
}

/** What a control plane tells and publishes over so many evaluations, the group changing as it goes. */
function recordingOf(
  steps: number,
  groupAt: (step: number) => ServerGroup,
  answersAt: (step: number) => readonly Answer[],
) {
  let newest: GroupDecision | undefined;
  let nowMs = 1_000_000.25;
  const feed = new SampleFeed({
    origin: () => ({ version: '1', instance: 'i', startedAt: 0, now: 0, nowMs }),
    status: () => newest && ({ newest } as GroupStatus),
  });
  const told = new Told();
  feed.configure([groupAt(0)]);
  feed.add(told as unknown as ServerResponse);
  const assignments: GroupDecision['assignment'][] = [];
  let state = initialState();
  for (let step = 0; step < steps; step++) {
    const group = groupAt(step);
    if (step > 0 && group !== groupAt(step - 1)) feed.configure([group]);
    nowMs += 1000 + 3.7 * (step % 3);
    const outcomes = new Map<string, CollectOutcome>();
    for (const [index, { id }] of group.servers.entries()) {
      const outcome = outcomeOf(answersAt(step)[index], nowMs - 7.3);
      if (outcome !== undefined) outcomes.set(id, outcome);
    }
    const run = { startedAtMs: nowMs - 50, endedAtMs: nowMs - 1, outcomes };
    const result = evaluate(state, { group, nowMs, run, delaySeconds: 0.1 + 0.01 * (step % 5) });
    state = result.state;
    newest = result.decision;
    assignments.push(newest.assignment);
    feed.evaluated(newest, run);
  }
  return { lines: told.lines, assignments };
}

function replayed(
  lines: readonly SampleLine[],
  settings: ServerGroup,
  follows?: 'recording',
): readonly ReplayStep[] {
  const replay = new GroupReplay(settings, follows);
  return lines.flatMap((line) => {
    if (line.kind === 'evaluation') return replay.evaluate(line) ?? [];
    for (const group of line.groups) replay.configure(group);
    return [];
  });
}

/** Unequal backends, of which one is silent at times; more and more comes, until it is too much. */
function answers(step: number): readonly Answer[] {
  return [0, 1, 2, 3].map((index) => {
    if (index === 3 && step % 11 > 8) return 'timeout';
    const queued = step > 150 && step < 260 ? 3 + index + (step % 4) : 0;
    const running = 8 + 5 * index + ((step * (3 + index)) % 7);
    return { queued, running, kvUtilization: running / 50, finished: step * (4 - 0.5 * index) };
  });
}

const group = (options: FleetOptions = {}, count = 4) =>
  loadAwareGroup(backends(count), { saturation: PROPORTIONAL, ...options });

test('the same configuration: the same to the last digit, through overload, silence, and one that joins', () => {
  const [few, all] = [group({}, 3), group()];
  const { lines, assignments } = recordingOf(400, (step) => (step < 40 ? few : all), answers);
  const steps = replayed(lines, all);
  assert.equal(steps.length, 400);
  assert.ok(assignments.some(({ dropShare }) => dropShare > 0.1));
  for (const [index, { would, was, closed }] of steps.entries()) {
    assert.deepEqual(would, assignments[index]);
    assert.deepEqual(was, assignments[index]);
    assert.ok(closed);
  }
});

test('of a group that was observed: learned residuals stand still, and do not run away', () => {
  const settings = group({ mode: 'Observe' });
  const { lines } = recordingOf(
    600,
    () => settings,
    (step) => answers(step % 150),
  );
  const steps = replayed(lines, settings);
  // until the first one is told there is nothing that could be another
  assert.ok(steps.slice(2).every(({ closed }) => !closed));
  const sharesAt = (index: number) => (steps[index]?.would.endpoints ?? []).map(({ weight }) => weight);
  // the load is the same each 150 evaluations
  const [early, late] = [sharesAt(298), sharesAt(598)];
  assert.ok((late[0] ?? 0) > 2 * (late[2] ?? 0), late.join(', '));
  for (const [index, weight] of late.entries()) {
    assert.ok(Math.abs(weight / (early[index] ?? 0) - 1) < 0.05, `${early.join(', ')} → ${late.join(', ')}`);
  }
});

test('another configuration in an overload: the refused share is about what was refused', () => {
  const settings = group();
  const { lines, assignments } = recordingOf(260, () => settings, answers);
  const steps = replayed(lines, group({ policy: 'Linear' }));
  const differences = steps
    .slice(180)
    .map(({ would }, index) => Math.abs(would.dropShare - (assignments[180 + index]?.dropShare ?? 0)));
  assert.ok(Math.max(...assignments.map(({ dropShare }) => dropShare)) > 0.5);
  assert.ok(Math.max(...differences) < 0.4, String(Math.max(...differences)));
});

test('a longer Interval takes every other sample, a shorter one changes nothing', () => {
  const settings = group();
  const { lines } = recordingOf(100, () => settings, answers);
  assert.equal(replayed(lines, group({ intervalSeconds: 2 })).length, 50);
  assert.deepEqual(
    replayed(lines, group({ intervalSeconds: 0.25 })).map(({ would }) => would),
    replayed(lines, settings).map(({ would }) => would),
  );
});

for (const mark of ['sharesBackends', 'keepsSessions'] as const)
  test(`a group that ${mark}: that is recorded, and the same comes out`, () => {
    const settings = group({ [mark]: true });
    const { lines, assignments } = recordingOf(200, () => settings, answers);
    for (const follows of [undefined, 'recording'] as const) {
      const steps = replayed(lines, group(), follows);
      for (const [index, { would }] of steps.entries()) assert.deepEqual(would, assignments[index]);
    }
    const { lines: ofOwn } = recordingOf(1, () => group(), answers);
    const marked = [lines, ofOwn].map(([first]) => first?.kind !== 'evaluation' && first?.groups[0]?.[mark]);
    assert.deepEqual(marked, [true, undefined]);
  });

test('a group whose sidecars keep to their zone: where backends were is recorded, and the same comes out', () => {
  const servers = backends(4).map((of, index) => ({ ...of, zone: index < 2 ? 'a' : 'b' }));
  const settings = loadAwareGroup(servers, { saturation: PROPORTIONAL, locality: 'Prefer' });
  const { lines, assignments } = recordingOf(200, () => settings, answers);
  // recorded under settings that are another one's
  const steps = replayed(lines, group(), 'recording');
  assert.equal(steps.length, 200);
  for (const [index, { would }] of steps.entries()) assert.deepEqual(would, assignments[index]);
  assert.notDeepEqual(
    assignments.at(-1)?.endpoints.map(({ weight }) => weight),
    recordingOf(200, () => group(), answers)
      .assignments.at(-1)
      ?.endpoints.map(({ weight }) => weight),
  );
});
