import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { z } from 'zod';
import { configurationFile } from '../../../src/config/schema.ts';
import { parseTree } from '../../../src/config/tree.ts';
import { configurationJsonSchema, PATTERN_ERROR } from '../../support/config-json-schema.ts';
import { deployedConfigurations } from '../../support/deployed.ts';
import { assertFile } from '../../support/golden.ts';
import { badFiles } from './bad/all.ts';

const FILE = new URL('../../../deploy/plimsoll.schema.json', import.meta.url);

// Strict: an unknown keyword is an error; so is a pattern that is none with the flag u.
const ajv = new Ajv2020({ strict: true }).addVocabulary([PATTERN_ERROR]);
const validate = ajv.compile(configurationJsonSchema());

test('deploy/plimsoll.schema.json is in step with the code', () => {
  assertFile(FILE, `${JSON.stringify(configurationJsonSchema(), undefined, 2)}\n`);
});

for (const { name, text } of deployedConfigurations()) {
  test(`deploy/${name} is valid by the JSON schema`, () => {
    const tree = parseTree(text, name);
    assert.equal(tree.kind, 'tree');
    validate(tree.top.value);
    assert.deepEqual(validate.errors ?? [], []);
  });
}

test('the JSON schema refuses the bad files in which a field alone is wrong, and no other', () => {
  let refused = 0;
  for (const { name, text } of Object.values(badFiles).flat()) {
    const tree = parseTree(text, name);
    if (tree.kind === 'broken') continue;
    const issues = configurationFile.safeParse(tree.top.value).error?.issues ?? [];
    const isExpected = issues.some(isExpressible);
    assert.equal(!validate(tree.top.value), isExpected, name);
    if (isExpected) refused += 1;
  }
  assert.ok(refused > 100, String(refused));
});

test('the JSON schema has each default', () => {
  const { properties } = JSON.parse(readFileSync(FILE, 'utf8')) as {
    readonly properties: { readonly Log: { readonly properties: { readonly Level: unknown } } };
  };
  assert.deepEqual(properties.Log.properties.Level, {
    description: 'Lines below this level are not written.',
    examples: ['debug'],
    default: 'info',
    type: 'string',
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  });
});

/** Not what only code can tell, such as whether a text is an IP literal. */
function isExpressible(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.every((issues) => issues.some(isExpressible));
  return issue.code !== 'custom';
}
