import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { allMaps, configurationFields } from '../../support/config-fields.ts';
import { configurationReference } from '../../support/config-reference.ts';
import { assertFile } from '../../support/golden.ts';

const fields = allMaps(configurationFields()).flatMap((map) => map.fields);

test('every field says what it means', () => {
  assert.ok(fields.length >= 70, String(fields.length));
  for (const { path, description } of fields) assert.match(description, /^\S.*\.$/s, path);
});

test('every field has an example that it takes', () => {
  // The fields of a map first: its example is made of theirs.
  for (const { path, schema, example } of fields.toReversed()) {
    assert.notEqual(example, undefined, `${path}: add .meta({ examples: [VALUE] })`);
    const { error } = z.safeParse(schema, example);
    assert.equal(error, undefined, `${path}: ${JSON.stringify(example)}`);
  }
});

test('an example is not the default, unless there is but one value', () => {
  for (const { path, absence, example, rule } of fields) {
    if (absence.kind === 'default' && rule !== example) assert.notDeepEqual(example, absence.value, path);
  }
});

test('deploy/reference.md tells every field', () => {
  const reference = configurationReference();
  assertFile(new URL('../../../deploy/reference.md', import.meta.url), reference);
  const headings = Array.from(reference.matchAll(/^## `(.+)`$/gm), ([, path = '']) => path);
  const anchors = new Set(headings.map((path) => path.toLowerCase().replaceAll(/[.[\]]/g, '')));
  assert.equal(anchors.size, headings.length);
  for (const [, anchor = ''] of reference.matchAll(/\(#(.+?)\)/g)) assert.ok(anchors.has(anchor), anchor);
});
