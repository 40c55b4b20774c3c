import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminalKind } from '../../../src/commands/terminal-kind.ts';

test('escapes go to terminals that know them, colours to those whose user wants them', () => {
  const tty = { isTTY: true };
  assert.equal(terminalKind(tty, { TERM: 'xterm' }), 'colored');
  assert.equal(terminalKind(tty, {}), 'colored');
  assert.equal(terminalKind(tty, { NO_COLOR: '' }), 'colored');
  assert.equal(terminalKind(tty, { NO_COLOR: '1' }), 'plain');
  assert.equal(terminalKind(tty, { TERM: 'dumb' }), 'none');
  assert.equal(terminalKind({}, { TERM: 'xterm' }), 'none');
});
