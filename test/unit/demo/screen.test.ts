import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Painter } from '../../../src/demo/painter.ts';
import { renderLine, renderScreen, type View } from '../../../src/demo/screen.ts';

const VIEW: View = {
  act: 'act 3: overload',
  story: 'Too much.',
  addresses: ['page   http://127.0.0.1:41509/', 'top    plimsoll top --admin http://127.0.0.1:41509'],
  secondsLeft: 4.2,
  isInOvertime: false,
  shed: 0.312,
  ratePerSecond: 31.26,
  firstTokenP50Ms: 123,
  firstTokenP95Ms: Number.NaN,
  noUpstream: 17,
  failed: 0,
  controlPlane: 'up',
  backends: [
    {
      id: '127.83.0.1:40001',
      speed: 1,
      queued: 3,
      running: 12,
      kvUtilization: 0.456,
      score: 0.876,
      weight: 103_456,
      share: 0.31,
      health: 'HEALTHY',
    },
    {
      id: '127.83.0.2:40002',
      speed: 0.5,
      queued: 14,
      running: 12,
      kvUtilization: 0.5,
      score: undefined,
      weight: undefined,
      share: 0.1,
      health: 'UNHEALTHY',
    },
  ],
  past: ['act 1: over'],
};

test('a screen has the load, one line for each backend, and what is over', () => {
  assert.deepEqual(renderScreen(VIEW, false, 120), [
    'plimsoll demo   act 3: overload   4 s left   p 31%',
    'Too much.',
    '',
    'page   http://127.0.0.1:41509/',
    'top    plimsoll top --admin http://127.0.0.1:41509',
    '',
    'control plane up   load 31.3/s   first token p50 0.12 s, p95 -   503s 17   failures 0',
    '',
    'backend           speed  queue   KV  running  score  weight  requests  health',
    '127.83.0.1:40001   100%      3  46%       12     88  103456       31%  HEALTHY',
    '127.83.0.2:40002    50%     14  50%       12      -       -       10%  UNHEALTHY',
    '',
    'act 1: over',
  ]);
});

test('what is wider than the screen goes on below, cut is nothing but the table', () => {
  const lines = renderScreen({ ...VIEW, secondsLeft: undefined, past: [] }, false, 40);
  assert.equal(lines[0], 'plimsoll demo   act 3: overload   p 31%');
  assert.deepEqual(lines.slice(3, 6), [
    'page   http://127.0.0.1:41509/',
    'top    plimsoll top --admin',
    '  http://127.0.0.1:41509',
  ]);
  assert.deepEqual(lines.slice(7, 10), [
    'control plane up   load 31.3/s',
    'first token p50 0.12 s, p95 -   503s 17',
    'failures 0',
  ]);
});

test('a line has the same', () => {
  assert.equal(
    renderLine({ ...VIEW, secondsLeft: 0, shed: undefined }),
    'act 3: overload, waiting for the last answers, p - | ' +
      'control plane up   load 31.3/s   first token p50 0.12 s, p95 -   503s 17   failures 0 | ' +
      '127.83.0.1:40001 q3 kv 46% r12 score 88 weight 103456 31% HEALTHY | ' +
      '127.83.0.2:40002 q14 kv 50% r12 score - weight - 10% UNHEALTHY',
  );
});

test('an act that goes on says until when', () => {
  const [first] = renderLine({ ...VIEW, secondsLeft: 0, isInOvertime: true, shed: 0.08 }).split(' | ');
  assert.equal(first, 'act 3: overload, goes on until p is 0, for 20 s at most, p 8%');
});

function painted(columns: number | undefined, color: boolean): string {
  let text = '';
  const painter = new Painter({
    write: (part) => {
      text += part;
    },
    columns,
    color,
  });
  painter.paint(VIEW);
  painter.print('the end\n');
  return text;
}

test('without a terminal there are plain lines and no escapes', () => {
  const text = painted(undefined, false);
  assert.ok(!text.includes('\u001b'));
  assert.deepEqual(text.split('\n').slice(1), ['the end', '']);
});

test('without colour a terminal gets no colours', () => {
  const isColor = /\u001b\[\d+m/;
  assert.doesNotMatch(painted(80, false), isColor);
  assert.match(painted(80, true), isColor);
});

test('a terminal gets a screen of its own, no line is wider than it, and it is left at the end', () => {
  const text = painted(20, true);
  const [screen = '', after] = text.split('\u001b[?1049l');
  assert.ok(screen.startsWith('\u001b[?1049h'));
  assert.equal(after, 'the end\n');
  const visible = screen.replace(/\u001b\[\??\d*[a-zA-Z]/g, '').split('\n');
  assert.ok(visible.every((line) => line.length <= 20));
  assert.equal(visible[0], 'plimsoll demo');
});
