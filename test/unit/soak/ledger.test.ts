import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Claim, Ledger } from '../../soak/ledger.ts';
import type { TimedFailure } from '../../soak/steady-requests.ts';

const failure = (sentMs: number, change: Partial<TimedFailure> = {}): TimedFailure => ({
  kind: 'broken',
  detail: 'reset',
  backend: undefined,
  sentMs,
  endedMs: sentMs + 10,
  ...change,
});

const claim = (change: Partial<Claim> = {}): Claim => ({
  fault: 'killed',
  own: 'what was inside it',
  isOwn: ({ kind }) => kind === 'broken',
  afterMs: 1000,
  ...change,
});

test('a failure that nobody has claimed is ours', () => {
  const ledger = new Ledger();
  ledger.book(failure(500));
  assert.deepEqual([ledger.own, ledger.ours], [0, 1]);
  assert.deepEqual(ledger.examples, [{ ...failure(500), during: [] }]);
});

test('a fault owns what it claims, from what was in flight when it came until a while after it went', () => {
  const ledger = new Ledger();
  const end = ledger.begin(claim(), 1000);
  ledger.book(failure(900, { endedMs: 1001 }));
  ledger.book(failure(2000));
  end(3000);
  ledger.book(failure(3999));
  assert.deepEqual([ledger.own, ledger.ours], [3, 0]);
  ledger.book(failure(900, { endedMs: 999 }));
  ledger.book(failure(4001));
  assert.deepEqual([ledger.own, ledger.ours], [3, 2]);
  assert.deepEqual(ledger.accounts.get('killed'), { times: 1, own: 3, ours: 0 });
});

test('what a fault has not claimed is ours while it goes on, and is shown with it', () => {
  const ledger = new Ledger();
  ledger.begin(claim(), 1000);
  ledger.book(failure(2000, { kind: 'shed' }));
  assert.deepEqual(ledger.accounts.get('killed'), { times: 1, own: 0, ours: 1 });
  assert.deepEqual(ledger.examples[0]?.during, ['killed']);
});

test('a claim knows when the fault went', () => {
  const ledger = new Ledger();
  const undone: number[] = [];
  const isOwn = (_: TimedFailure, undoneMs: number): boolean => {
    undone.push(undoneMs);
    return true;
  };
  const end = ledger.begin(claim({ isOwn }), 1000);
  ledger.book(failure(1500));
  end(2000);
  ledger.book(failure(2500));
  assert.deepEqual(undone, [Infinity, 2000]);
});

test('of two faults at a time the one that claims it owns it, and the same fault again adds up', () => {
  const ledger = new Ledger();
  ledger.begin(claim({ fault: 'other', isOwn: () => false }), 1000);
  ledger.begin(claim(), 1000)(1100);
  ledger.begin(claim(), 5000);
  ledger.book(failure(5500));
  assert.deepEqual(ledger.accounts.get('killed'), { times: 2, own: 1, ours: 0 });
  assert.deepEqual(ledger.accounts.get('other'), { times: 1, own: 0, ours: 0 });
});

test('of ours a bounded number is kept, all are counted', () => {
  const ledger = new Ledger();
  for (let sentMs = 0; sentMs < 200; sentMs++) ledger.book(failure(sentMs));
  assert.equal(ledger.ours, 200);
  assert.equal(ledger.examples.length, 50);
});
