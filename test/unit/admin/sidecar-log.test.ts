import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { SidecarLog } from '../../../src/admin/sidecar-log.ts';
import { Sidecars } from '../../../src/admin/sidecars.ts';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';

test('the log says once that sidecars are behind, who was lost, and that none is behind any more', () => {
  let nowMs = 1_000;
  const lines: string[] = [];
  const write = (line: string): void => {
    lines.push(line);
  };
  const log = pino({ base: null, level: 'info' }, { write });
  const sidecars = new Sidecars(() => nowMs);
  const sidecarLog = new SidecarLog(log, sidecars, () => nowMs);
  const told = (): readonly unknown[] => {
    sidecarLog.look();
    return lines.splice(0).map((line) => {
      const { level, msg, behind, lost, nodes } = JSON.parse(line) as Record<string, unknown>;
      return {
        level,
        msg,
        ...(behind !== undefined && { behind }),
        ...(lost !== undefined && { lost }),
        nodes,
      };
    });
  };
  const [a, b] = ['a', 'b'].map((node, i) => {
    const stream = {};
    const peer = `10.9.0.1:${i}`;
    sidecars.joined(stream, { node, cluster: '', zone: '', identity: '10.9.0.1', peer, kind: 'ads' });
    return stream;
  }) as [object, object];
  const take = (stream: object, version: string): void =>
    sidecars.acknowledged(stream, TYPE_URLS.endpoint, new Map([['llama', version]]));
  sidecars.published('llama', 'v1');
  for (const stream of [a, b]) take(stream, 'v1');
  sidecars.published('llama', 'v2');
  assert.deepEqual(told(), []);
  nowMs = 7_000;
  const msg = 'sidecars are behind: they go on with older weights';
  assert.deepEqual(told(), [{ level: 40, msg, behind: 2, nodes: ['a', 'b'] }]);
  assert.deepEqual(told(), []);
  take(a, 'v2');
  nowMs = 20_000;
  sidecars.left(b);
  assert.deepEqual(told(), [
    {
      level: 40,
      msg: 'sidecars were lost while they were behind: those that still run go on with older weights',
      lost: 1,
      nodes: ['b'],
    },
    { level: 30, msg: 'no connected sidecar is behind any more', nodes: undefined },
  ]);
  assert.deepEqual(told(), []);
});
