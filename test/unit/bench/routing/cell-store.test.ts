import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CellStore, fileNameOf } from '../../../bench/routing/cell-store.ts';
import type { CellSpec } from '../../../bench/routing/model.ts';
import { SCENARIOS } from '../../../bench/routing/scenarios.ts';
import { syntheticCell } from './synthetic-cell.ts';

const SPEC: CellSpec = { scenario: SCENARIOS[0]!, arm: 'adaptive', sidecars: 4, seed: 1, rateFactor: 1 };

test('what one run saved the next one finds, and no part of a file is left', (t) => {
  const folder = folderOf(t);
  const result = syntheticCell(SPEC);
  storeOf(folder, 'new').save(SPEC, result);
  assert.deepEqual(storeOf(folder, 'new').get(SPEC), { product: 'new', result });
  assert.equal(storeOf(folder, 'new').get({ ...SPEC, seed: 2 }), undefined);
  assert.deepEqual(readdirSync(join(folder, 'new')), [fileNameOf(SPEC)]);
});

test('what is forgotten is not there any more', (t) => {
  const store = storeOf(folderOf(t), 'new');
  store.save(SPEC, syntheticCell(SPEC));
  store.forget(SPEC);
  store.forget({ ...SPEC, seed: 2 });
  assert.equal(store.get(SPEC), undefined);
});

test('cells of another version are found only when asked for, the newest first, the own before all', (t) => {
  const folder = folderOf(t);
  for (const [product, time] of [
    ['old', 1],
    ['older', 0],
  ] as const) {
    storeOf(folder, product).save(SPEC, syntheticCell(SPEC));
    utimesSync(join(folder, product), time, time);
  }
  assert.equal(storeOf(folder, 'new').get(SPEC), undefined);
  const keepGoing = storeOf(folder, 'new', true);
  assert.equal(keepGoing.get(SPEC)?.product, 'old');
  keepGoing.save(SPEC, syntheticCell(SPEC));
  assert.equal(keepGoing.get(SPEC)?.product, 'new');
});

test('a file that is broken or of another format is left out, and said once', (t) => {
  const folder = folderOf(t);
  storeOf(folder, 'new').save(SPEC, syntheticCell(SPEC));
  for (const text of ['{"format":1,"resu', '{"format":0,"result":{}}', 'null']) {
    writeFileSync(join(folder, 'new', fileNameOf(SPEC)), text);
    const warnings: string[] = [];
    const store = storeOf(folder, 'new', false, warnings);
    assert.equal(store.get(SPEC), undefined);
    assert.equal(store.get(SPEC), undefined);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /is no cell of format 1: it is left out$/);
  }
});

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-cells-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function storeOf(folder: string, product: string, others = false, warnings: string[] = []): CellStore {
  return new CellStore({ folder, productOf: () => product, others, warn: (line) => warnings.push(line) });
}
