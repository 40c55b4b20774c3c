import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTime } from '../../../src/runtime/in-time.ts';
import { waitFor } from '../../support/wait-for.ts';

test('what answers is told, whatever it says', async () => {
  assert.equal(await inTime('/a', () => Promise.resolve('')), '');
  await assert.rejects(
    inTime('/a', () => Promise.reject(new Error('no'))),
    /^Error: no$/,
  );
});

test('a path that does not answer is not asked again before it has', async () => {
  const answers: ((text: string) => void)[] = [];
  const ask = (): Promise<string> => new Promise((resolve) => answers.push(resolve));
  await assert.rejects(inTime('/a', ask, 50), /^Error: nothing came for 0\.05 s$/);
  await assert.rejects(inTime('/a', ask, 50), /^Error: nothing came for 0\.05 s$/);
  assert.equal(answers.length, 1);
  assert.equal(await inTime('/b', () => Promise.resolve('another')), 'another');
  const next = inTime('/a', ask);
  answers[0]?.('late');
  await waitFor('its turn', () => answers.length === 2);
  answers[1]?.('in time');
  assert.equal(await next, 'in time');
});
