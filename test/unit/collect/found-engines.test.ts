import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { FoundEngines } from '../../../src/collect/found-engines.ts';
import type { EngineName } from '../../../src/core/model/collect-settings.ts';
import type { BackendDecision } from '../../../src/core/model/decision.ts';

test('which engines are found is logged once for a group, and when the set of them is another', () => {
  const log: string[] = [];
  const found = new FoundEngines(
    pino(
      { base: null },
      {
        write: (line) => {
          const { serverGroup, engines } = JSON.parse(line) as Record<string, unknown>;
          log.push(`${String(serverGroup)} ${JSON.stringify(engines)}`);
        },
      },
    ),
  );
  const note = (atMs: number, ...engines: (EngineName | undefined)[]): readonly string[] => {
    const backends = engines.map((engine) => ({ engine })) as BackendDecision[];
    found.note({ serverGroup: 'a', atMs, backends });
    return log.splice(0);
  };
  assert.deepEqual(note(0), []);
  assert.deepEqual(note(1000, undefined), []);
  assert.deepEqual(note(2000, 'Vllm', 'Vllm', undefined), ['a {"Vllm":2}']);
  assert.deepEqual(note(3000, 'Vllm', 'Vllm', 'Vllm'), []);
  assert.deepEqual(note(4000, 'SgLang', 'Vllm', 'Vllm'), [], 'not so soon again');
  assert.deepEqual(note(12_000, 'SgLang', 'Vllm', 'Vllm'), ['a {"SgLang":1,"Vllm":2}']);
  assert.deepEqual(note(30_000, 'Vllm', 'SgLang', 'SgLang'), [], 'the same set');
  assert.deepEqual(note(31_000, undefined), [], 'none is known, which warnings tell');
  assert.deepEqual(note(32_000, 'SgLang', 'SgLang', 'SgLang'), ['a {"SgLang":3}']);
  found.forget('a');
  assert.deepEqual(note(33_000, 'SgLang'), ['a {"SgLang":1}']);
});
