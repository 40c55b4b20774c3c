import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { age, counted, integer, percent, score, took } from '../../../../src/admin/page/cells.ts';
import { lostWords, retryAfterMs } from '../../../../src/admin/page/connection.ts';
import { allWarnings, summaryOf } from '../../../../src/admin/page/group-summary.ts';
import { keyAction } from '../../../../src/admin/page/keys.ts';
import { shellWord } from '../../../../src/admin/page/shell-word.ts';
import {
  goneWords,
  sidecarCountWords,
  standingOf,
  standingWords,
  streamWords,
} from '../../../../src/admin/page/sidecar-words.ts';
import type { BackendRow } from '../../../../src/admin/state-shape.ts';
import {
  healthyRow,
  NOW,
  scriptedGroup,
  scriptedSidecar,
  scriptedState,
} from '../../../support/scripted-state.ts';

test('figures of a column have as many decimals each, and what is unknown a dash', () => {
  assert.deepEqual([0, 999, 1000, 1_234_567, null].map(integer), ['0', '999', '1,000', '1,234,567', '–']);
  assert.deepEqual(
    [0, 0.0001, 0.001, 0.1249, 1, null].map((ratio) => percent(ratio)),
    ['0.0 %', '<0.1 %', '0.1 %', '12.5 %', '100.0 %', '–'],
  );
  assert.deepEqual(
    [0.004, 0.61].map((ratio) => percent(ratio, 0)),
    ['<1 %', '61 %'],
  );
  assert.deepEqual([0, 9.94, 9.96, 99, 100, 5940, 7200, 200_000, null].map(age), [
    '0.0 s',
    '9.9 s',
    '10 s',
    '99 s',
    '2 min',
    '99 min',
    '2 h',
    '2 d',
    '–',
  ]);
  assert.deepEqual([0.0012, 0.94, 1.26, 12.4, null].map(took), ['1 ms', '940 ms', '1.3 s', '12 s', '–']);
  assert.deepEqual([99.6, null].map(score), ['100', '–']);
  assert.deepEqual([counted(1, 'backend'), counted(1200, 'backend')], ['1 backend', '1,200 backends']);
});

describe('a connection that is lost', () => {
  test('is tried again less and less often', () => {
    assert.deepEqual([1, 2, 3, 4, 5, 99].map(retryAfterMs), [500, 1000, 2000, 5000, 5000, 5000]);
  });

  test('says since when, why, and what happens', () => {
    const lost = { kind: 'lost', since: 10_000, reason: 'it cannot be reached', retryAt: 23_400 } as const;
    const clock = (ms: number) => `T${ms}`;
    assert.equal(
      lostWords(lost, 22_000, clock),
      'No connection to the control plane since T10000, for 12 s (it cannot be reached); trying again in 2 s.',
    );
    assert.match(lostWords(lost, 24_000, clock), /for 14 s .*; trying again now\.$/);
  });
});

test('keys act where nothing else needs them', () => {
  const press = (key: string, change = {}) => ({
    key,
    ctrlKey: false,
    altKey: false,
    metaKey: false,
    ...change,
  });
  assert.equal(keyAction(press('/'), 'table'), 'filter');
  assert.equal(keyAction(press('j'), 'control'), 'next');
  assert.equal(keyAction(press('Enter'), 'table'), 'open');
  assert.equal(keyAction(press('Enter'), 'control'), undefined);
  assert.equal(keyAction(press('Enter'), 'filter'), 'next');
  assert.equal(keyAction(press('j'), 'filter'), undefined);
  assert.equal(keyAction(press('Escape'), 'filter'), 'close');
  assert.equal(keyAction(press('j', { ctrlKey: true }), 'table'), undefined);
  assert.equal(keyAction(press('x'), 'table'), undefined);
});

test('a group comes to its counts and sums', () => {
  const silent: BackendRow = ['HEALTHY', 'silent', 1, 0, null, 2, null, null, 9, 'worst', 4, 'refused', NOW];
  const marked: BackendRow = ['UNHEALTHY', 'marked', 1, 0, 0, 14, 60, 1, 0, 'fresh', 0, null, null];
  const aside: BackendRow = [null, 'aside', 0, 0, null, null, null, null, null, 'aside', 0, null, null];
  const group = scriptedGroup('llama', 5, { rows: [healthyRow(5), silent, marked, aside] });
  assert.deepEqual(summaryOf(group), {
    backends: 5,
    healthy: 2,
    unhealthy: 1,
    silent: 1,
    out: 1,
    queued: 16,
    running: 65,
  });
  const { queued, running } = summaryOf(scriptedGroup('llama', 1, { rows: [aside] }));
  assert.deepEqual([queued, running], [null, null]);
});

test('warnings of the whole come before those of groups', () => {
  const of = (text: string) => [{ text, remedy: 'r' }];
  const state = scriptedState(
    [scriptedGroup('a', 1, { warnings: of('one') }), scriptedGroup('b', 1, { warnings: of('two') })],
    { warnings: of('all') },
  );
  assert.deepEqual(
    allWarnings(state).map(({ group, text }) => [group, text]),
    [
      [undefined, 'all'],
      ['a', 'one'],
      ['b', 'two'],
    ],
  );
});

describe('a sidecar', () => {
  const at = (...behindSince: (number | null)[]) =>
    scriptedSidecar('one', {
      groups: behindSince.map((since, i) => ({ name: `g${i}`, version: 'v', behindSince: since })),
    });

  test('is behind only when it has had time to take the newest', () => {
    assert.equal(standingOf(at(null, null), NOW), 'current');
    assert.equal(standingOf(at(null, NOW - 4000), NOW), 'on the way');
    assert.equal(standingOf(at(NOW - 40_000, NOW - 1000), NOW), 'behind');
    assert.equal(standingWords(at(NOW - 40_000, NOW - 8000, null), NOW), 'behind for 40 s');
    assert.equal(standingWords(at(), NOW), 'nothing acknowledged yet');
  });

  test('that refused what it was sent is not current, whatever it has', () => {
    const nack = { at: NOW, type: 'Listener', names: 'inference', reason: 'no' };
    const refusing = (behindSince: number | null) => ({ ...at(behindSince), nack });
    assert.equal(standingOf(refusing(null), NOW), 'refuses');
    assert.equal(standingWords(refusing(null), NOW), 'refuses');
    assert.equal(standingWords(refusing(NOW - 40_000), NOW), 'refuses, behind for 40 s');
  });

  test('that was lost says for how long it was behind; all of them are counted', () => {
    const gone = {
      node: 'a',
      cluster: '',
      identity: 'i',
      peer: 'p',
      at: NOW - 20_000,
      behindSince: NOW - 42_000,
    };
    assert.equal(goneWords(gone, NOW), 'gone 20 s ago, was behind for 22 s');
    const all = { total: 3, streams: 3, behind: 1, refusing: 2, gone: [gone], shown: [] };
    assert.equal(sidecarCountWords(all), '3 sidecars, 1 behind, 2 refuse, 1 lost while behind');
    assert.equal(sidecarCountWords({ ...all, behind: 0, refusing: 0, gone: [] }), '3 sidecars');
  });

  test('has streams by kind', () => {
    assert.equal(streamWords(['ads', 'eds', 'eds']), 'ads, 2 eds');
  });
});

test('a name from outside is one word for a shell, whatever is in it', () => {
  assert.deepEqual(['llama', '10.0.0.1:8000'].map(shellWord), ['llama', '10.0.0.1:8000']);
  assert.equal(shellWord('[2001:db8::1]:8000'), `'[2001:db8::1]:8000'`);
  assert.equal(shellWord('outbound|8000||a.b'), `'outbound|8000||a.b'`);
  assert.equal(shellWord(`a'$(reboot)`), `'a'\\''$(reboot)'`);
});
