import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rehearse } from '../../../src/commands/rehearsal.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

test('the rehearsal ends by itself when all clients have had all pushes', async () => {
  const clock = new FakeClock();
  // time stands still: it cannot end by giving up
  await rehearse(clock);
  assert.equal(clock.pending, 0);
});

test('a rehearsal that cannot come to its end is given up', async () => {
  const clock = new FakeClock();
  let ended = false;
  const rehearsal = rehearse(clock, xdsSettings({ streams: 1 })).then(() => {
    ended = true;
  });
  await waitFor('the limit of the time', () => clock.pending > 0);
  await clock.advance(4_999);
  assert.equal(ended, false);
  await clock.advance(1);
  await rehearsal;
  assert.equal(clock.pending, 0);
});
