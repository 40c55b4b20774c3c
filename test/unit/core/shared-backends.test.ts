import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { explainText } from '../../../src/commands/explain-text.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import { markShared } from '../../../src/core/shared-backends.ts';
import { backend } from '../../support/decisions.ts';
import { explanationOf } from '../../support/explanations.ts';
import { Fleet, loadAwareGroup, one, sampleOf } from '../../support/fleet.ts';

describe('which groups share a backend', () => {
  const [first, second, third] = [backend(1), backend(2), backend(3)];
  const chat = { ...loadAwareGroup([first, second]), name: 'chat' };
  const batch = { ...loadAwareGroup([second, third]), name: 'batch' };
  const alone = { ...loadAwareGroup([backend(4)]), name: 'alone' };

  test('both of two that do; one that does not is the same object', () => {
    const marked = markShared([chat, alone, batch]);
    assert.deepEqual(
      marked.map(({ name, sharesBackends }) => [name, sharesBackends]),
      [
        ['chat', true],
        ['alone', undefined],
        ['batch', true],
      ],
    );
    assert.equal(marked[1], alone);
  });

  test('with a group that does not follow the load too, which is not marked itself', () => {
    const plain = { ...batch, loadAware: undefined };
    const marked = markShared([plain, chat]);
    assert.equal(marked[0], plain);
    assert.equal(marked[1]?.sharesBackends, true);
  });
});

describe('requests of another group at one of two backends', () => {
  /** Two a second from here, and 16 more to the second one from there; each stays for 2 s. */
  const afterFiveMinutes = (sharesBackends: boolean, shown: number): GroupDecision =>
    new Fleet(2, { sharesBackends }).steps(300, (step) => [
      sampleOf({ running: shown, finished: 2 * step }),
      sampleOf({ running: 36, finished: 18 * step }),
    ]);
  const isDoubted = (decision: GroupDecision): boolean => one(decision, 0).doubted;

  test('do not make the other one doubted', () => {
    assert.equal(isDoubted(afterFiveMinutes(true, 4)), false);
    assert.equal(isDoubted(afterFiveMinutes(false, 4)), true, 'it would be');
  });

  test('one that shows no load while it finishes requests is doubted all the same', () => {
    const decision = afterFiveMinutes(true, 0);
    assert.equal(isDoubted(decision), true);
    const text = explainText(explanationOf(decision), { full: true, color: false, columns: undefined });
    assert.match(text, /Trust in its gauges: 0[.\d]*; what its share brings is not known; it ran \d/);
  });
});
