import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cleanups } from '../../support/cleanups.ts';

describe('cleanups', () => {
  test('run the last one first, each of them once', async () => {
    const ended: string[] = [];
    const cleanups = new Cleanups();
    cleanups.add(() => ended.push('one'));
    assert.equal(await cleanups.own(Promise.resolve('two'), (two) => ended.push(two)), 'two');
    await cleanups.run();
    await cleanups.run();
    assert.deepEqual(ended, ['two', 'one']);
  });

  test('have nothing to end of what failed to start, and wait for what still starts', async () => {
    const ended: string[] = [];
    const cleanups = new Cleanups();
    let started = (): void => undefined;
    const starting = new Promise<string>((resolve) => {
      started = () => {
        resolve('slow');
      };
    });
    const slow = cleanups.own(starting, (what) => ended.push(what));
    const failing = cleanups.own(Promise.reject<string>(new Error('no port')), (what) => ended.push(what));
    await assert.rejects(Promise.all([slow, failing]), /no port/);
    const run = cleanups.run();
    started();
    await run;
    assert.deepEqual(ended, ['slow']);
  });

  test('go on after one that fails, and tell it', async () => {
    const ended: string[] = [];
    const cleanups = new Cleanups();
    cleanups.add(() => ended.push('first'));
    cleanups.add(() => Promise.reject(new Error('does not end')));
    await assert.rejects(cleanups.run(), /does not end/);
    assert.deepEqual(ended, ['first']);
  });
});
