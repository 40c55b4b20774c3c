import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { metricFamilies } from '../../support/metrics-page.ts';

const DEPLOY = new URL('../../../deploy/', import.meta.url);

/** Files that an operator loads into other programs, with metrics of ours in them. */
const FILES = ['prometheus', 'grafana', 'keda'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, DEPLOY)).map((name) => `${folder}/${name}`),
);

for (const file of FILES) {
  test(`every metric in deploy/${file} exists`, async () => {
    const known = new Set((await metricFamilies()).map(({ name }) => name));
    const text = readFileSync(new URL(file, DEPLOY), 'utf8');
    const names = new Set([...text.matchAll(/(?<![:\w])plimsoll_\w+/g)].map(([name]) => name));
    assert.ok(names.size > 0);
    const unknown = [...names].filter((name) => !known.has(name.replace(/_(bucket|sum|count)$/, '')));
    assert.deepEqual(unknown, []);
  });
}
