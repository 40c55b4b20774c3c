import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedPage } from '../../../src/admin/shared-page.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('a flood of requests makes few pages, each newer than who gets it has asked', async () => {
  const clock = new FakeClock();
  let made = 0;
  const page = new SharedPage(async () => {
    made++;
    // it takes 100 ms
    await clock.advance(100);
    return `page ${made}`;
  }, clock);
  assert.equal((await page.get()).toString(), 'page 1');
  const flood = Array.from({ length: 1000 }, () => page.get());
  await clock.advance(399);
  assert.equal(made, 1);
  const last = page.get();
  await clock.advance(1);
  const [one, ...others] = await Promise.all([...flood, last]);
  assert.equal(one?.toString(), 'page 2');
  assert.ok(
    others.every((other) => other === one),
    'the same bytes for all',
  );
  await clock.advance(400);
  assert.equal((await page.get()).toString(), 'page 3');
});

test('one that cannot be made is told to those that wait, and tried again for the next', async () => {
  const results = [Promise.reject(new Error('broken')), Promise.resolve('page')];
  const page = new SharedPage(() => results.shift() ?? Promise.resolve(''), new FakeClock());
  await assert.rejects(page.get(), /broken/);
  assert.equal((await page.get()).toString(), 'page');
});

test('the end leaves nothing scheduled: who waits gets the page at once', async () => {
  const clock = new FakeClock();
  const page = new SharedPage(async () => {
    await clock.advance(100);
    return 'page';
  }, clock);
  await page.get();
  const waits = page.get();
  assert.equal(clock.pending, 1);
  page.close();
  assert.equal(clock.pending, 0);
  assert.equal((await waits).toString(), 'page');
});
