import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_MODEL, pressed, type TopModel } from '../../../src/commands/top-model.ts';
import { topScreen } from '../../../src/commands/top-screen.ts';
import { groupLines, headParts, sidecarLines } from '../../../src/commands/top-text.ts';
import { NOW, scriptedGroup, scriptedState } from '../../support/scripted-state.ts';

test('while some have not taken the newest, it is not said after what time all had it', () => {
  const told = (current: number): string =>
    groupLines(
      scriptedGroup('llama', 3, { streams: { following: 2, current }, acknowledgementSeconds: 0.004 }),
      NOW,
      1000,
    ).join();
  assert.match(told(2), /2 of 2 streams current {3}all had it after 4 ms/);
  assert.match(told(1), /1 of 2 streams current so far$/);
});

test('a sidecar that was lost while behind is told of in the head and above the others', () => {
  const { sidecars } = scriptedState([]);
  const gone = { node: 'a', cluster: 'c', identity: '10.9.0.1', peer: '10.9.0.1:7' };
  const state = scriptedState([], {
    sidecars: { ...sidecars, gone: [{ ...gone, at: NOW - 20_000, behindSince: NOW - 42_000 }] },
  });
  assert.match(headParts(state, NOW).join(), /1 lost while behind/);
  assert.equal(sidecarLines(state, NOW)[0], 'a   10.9.0.1:7   gone 20 s ago, was behind for 22 s');
});

test('the bar of keys has as many as there is room for, never half of one', () => {
  const view = { status: { kind: 'live' }, state: scriptedState([]), toldAtMs: 0, restartedAtMs: 0 } as const;
  const scene = { view, model: { ...FIRST_MODEL, filter: '10.0.3' }, nowMs: 0, admin: 'ADMIN' };
  const bar = (columns: number) => topScreen(scene, { columns, rows: 12 }, false).at(-1);
  assert.equal(bar(60), 'filter: 10.0.3   ? help   q quit   / filter   s sidecars');
  assert.match(bar(200) ?? '', /w warnings   ← → sort   r reverse$/);
  assert.match(topScreen(scene, { columns: 60, rows: 12 }, false).join('\n'), /learned\n {2}begins again\./);
});

test('from sidecars, warnings and help the same key leads back, and the bar of keys says b', () => {
  const press = (model: TopModel, key: string): TopModel => {
    const next = pressed(model, { sequence: key }, { groups: 1, lines: 10 });
    return next === 'quit' ? assert.fail('it ended') : next;
  };
  const view = { status: { kind: 'live' }, state: scriptedState([]), toldAtMs: 0, restartedAtMs: 0 } as const;
  for (const key of ['s', 'w', '?']) {
    const model = press(FIRST_MODEL, key);
    assert.notEqual(model.tab, 'backends');
    const scene = { view, model, nowMs: 0, admin: 'ADMIN' };
    assert.match(topScreen(scene, { columns: 80, rows: 30 }, false).at(-1) ?? '', /^b backends {3}\? help/);
    assert.deepEqual(press(model, key), FIRST_MODEL);
  }
});
