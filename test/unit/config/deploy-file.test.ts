import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { configurationFile } from '../../../src/config/schema.ts';

const FILE = new URL('../../../deploy/plimsoll.yaml', import.meta.url);

function parse(text: string) {
  const result = parseConfiguration(text, 'deploy/plimsoll.yaml');
  return result.kind === 'valid'
    ? result.configuration
    : assert.fail(result.mistakes.map(formatMistake).join('\n'));
}

test('the file that an operator starts from is valid', async () => {
  const { serverGroups, listeners } = parse(await readFile(FILE, 'utf8'));
  assert.equal(serverGroups[0]?.servers.length, 4);
  assert.equal(listeners.length, 1);
});

test('the fields that it holds commented out have their defaults', async () => {
  const text = await readFile(FILE, 'utf8');
  const uncommented = text.replaceAll(/^( *)#(?=\w)/gm, '$1');
  assert.notEqual(uncommented, text);
  assert.deepEqual(parse(uncommented), parse(text));
});

test('it shows every field', async () => {
  const text = await readFile(FILE, 'utf8');
  const schema = JSON.stringify(z.toJSONSchema(configurationFile, { io: 'input' }));
  const names = new Set(Array.from(schema.matchAll(/"([A-Z]\w+)":\{/g), ([, name]) => name ?? ''));
  assert.ok(names.size > 30);
  for (const name of names) assert.match(text, new RegExp(`[ #{]${name}:|^${name}:`, 'm'), name);
});
