import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { WarningLog } from '../../../src/publish/warning-log.ts';

const BEGIN = 'server group needs attention';
const END = 'no warnings any more';

function bench() {
  const lines: unknown[] = [];
  const write = (line: string): void => {
    const { msg, serverGroup } = JSON.parse(line) as { msg: string; serverGroup: string };
    lines.push(`${serverGroup}: ${msg}`);
  };
  const log = new WarningLog(pino({ base: null }, { write }));
  const evaluated = (serverGroup: string, second: number, ...warnings: string[]): void => {
    log.evaluated({ serverGroup, warnings, atMs: second * 1000 });
  };
  return { lines, log, evaluated };
}

test('a warning is told when it begins, is another one, and ends', () => {
  const { lines, evaluated } = bench();
  evaluated('a', 0);
  evaluated('a', 1, 'overload');
  evaluated('a', 2, 'overload');
  evaluated('a', 3, 'overload', 'frozen');
  evaluated('a', 4);
  evaluated('a', 5);
  assert.deepEqual(lines, [`a: ${BEGIN}`, `a: ${BEGIN}`, `a: ${END}`]);
});

test('one that comes and goes all the time costs a line in ten seconds, and the last state is told', () => {
  const { lines, evaluated } = bench();
  for (let second = 0; second < 600; second++) {
    if (second % 2 === 0) evaluated('a', second, 'overload');
    else evaluated('a', second);
  }
  assert.ok(lines.length <= 6 + 60, `${lines.length} lines in ten minutes`);
  for (let second = 600; second < 620; second++) evaluated('a', second, 'overload');
  assert.equal(lines.at(-1), `a: ${BEGIN}`);
  evaluated('b', 620, 'overload');
  assert.equal(lines.at(-1), `b: ${BEGIN}`, 'another group has lines of its own');
});

test('a group that is gone and comes back is a new one', () => {
  const { lines, log, evaluated } = bench();
  evaluated('a', 0, 'overload');
  log.forget('a');
  evaluated('a', 1, 'overload');
  assert.deepEqual(lines, [`a: ${BEGIN}`, `a: ${BEGIN}`]);
});
