import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { configurationFile } from '../../../src/config/schema.ts';
import { deployedConfigurations } from '../../support/deployed.ts';

const FOLDER = new URL('../../../deploy/', import.meta.url);
const FILE = new URL('plimsoll.yaml', FOLDER);

function parse(text: string, name = 'plimsoll.yaml') {
  const result = parseConfiguration(text, `deploy/${name}`);
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

for (const { name, text } of deployedConfigurations()) {
  test(`deploy/${name} is valid, says where its schema is, and is in the list`, async () => {
    assert.ok(parse(text, name).serverGroups.length > 0);
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    assert.equal(new URL(schema, new URL(name, FOLDER)).href, new URL('plimsoll.schema.json', FOLDER).href);
    assert.ok((await readFile(new URL('README.md', FOLDER), 'utf8')).includes(`| \`${name}\` |`));
  });
}

test('an engine that an example names brings its path', async () => {
  const engines = parse(await readFile(new URL('examples/engines.yaml', FOLDER), 'utf8'));
  assert.deepEqual(
    engines.serverGroups.map(({ loadAware }) => loadAware?.collect.path),
    ['/metrics', '/prometheus/metrics', '/metrics'],
  );
});
