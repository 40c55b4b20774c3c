import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventParser, type ServerEvent } from '../../../../src/admin/page/event-parser.ts';

const TEXT =
  'retry: 1000\n\nid: 1\nevent: state\ndata: {"a":1}\n\n: a comment\r\nevent:change\r\ndata:one\r\ndata: two\r\n\r\ndata: x\n\n';
const EVENTS: readonly ServerEvent[] = [
  { name: 'state', data: '{"a":1}' },
  { name: 'change', data: 'one\ntwo' },
  { name: 'message', data: 'x' },
];

test('an event stream is taken apart however it was cut', () => {
  for (let size = 1; size <= TEXT.length; size++) {
    const parser = new EventParser();
    const events: ServerEvent[] = [];
    for (let at = 0; at < TEXT.length; at += size) events.push(...parser.push(TEXT.slice(at, at + size)));
    assert.deepEqual(events, EVENTS, `cut each ${size} characters`);
  }
});

test('an event that has not ended is not told', () => {
  const parser = new EventParser();
  assert.deepEqual(parser.push('event: state\ndata: 1\n'), []);
  assert.deepEqual(parser.push('\n'), [{ name: 'state', data: '1' }]);
});
