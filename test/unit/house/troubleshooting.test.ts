import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { named, TROUBLESHOOTING } from '../../support/troubleshooting.ts';
import { fullMetricsPage } from '../../support/metrics-page.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const source = readdirSync(new URL('src/', ROOT), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => read(`src/${name}`))
  .join('\n');

function assertAll(names: readonly string[], exists: (name: string) => boolean, least = 1): void {
  assert.ok(names.length >= least, `${names.length} are named`);
  assert.deepEqual(
    names.filter((name) => !exists(name)),
    [],
  );
}

test('every metric exists', async () => {
  const page = await fullMetricsPage();
  assertAll(named(/(plimsoll_\w+)/g), (name) => page.includes(`# HELP ${name} `), 20);
});

test('every line of the log is one of the code', () => {
  // a name that the code puts in stands for itself
  const written = source.replaceAll('${part}', 'Xds');
  assertAll(
    named(/"([^"`]+)"/g).filter((text) => text !== 'Securing the xDS port'),
    (text) => written.includes(text),
    12,
  );
});

test('every command and every option exists', () => {
  const main = read('src/main.ts');
  assertAll(named(/`?plimsoll ([a-z]+)/g), (name) => main.includes(`.command('${name}')`), 4);
  assertAll(
    named(/(?:plimsoll [a-z]+ .*?|`)(--[a-z-]+)/g),
    (name) => main.includes(`'${name}`) || name === '--disable-log-stats',
  );
});

test('every field of the configuration exists', () => {
  const schema = [
    'schema.ts',
    ...readdirSync(new URL('src/config/sections/', ROOT)).map((name) => `sections/${name}`),
  ]
    .map((path) => read(`src/config/${path}`))
    .join('\n');
  const fields = named(/`((?:[A-Z][a-z]\w*\.)*[A-Z][a-z]\w*)(?:: [^`]*)?`/g).filter(
    (name) => !name.startsWith('LimitNOFILE'),
  );
  assertAll(
    fields.flatMap((field) => field.split('.')),
    (name) => new RegExp(`\\b${name}\\b`).test(schema),
    10,
  );
});

test('every reason of a failure, every link and every file exists', () => {
  const anchors = [...TROUBLESHOOTING.matchAll(/^##+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  assertAll(named(/\]\(#([^)]*)\)/g), (anchor) => anchors.includes(anchor), 20);
  assertAll(named(/`((?:envoy|prometheus|deploy)\/[\w./]*)`/g), (path) =>
    existsSync(new URL(path.startsWith('deploy/') ? path : `deploy/${path}`, ROOT)),
  );
  assertAll(
    named(/`(?!plimsoll)([a-z]+(?:_[a-z0-9]+)+)`/g).filter((name) => !ENVOYS.has(name)),
    (name) => source.includes(`'${name}'`),
    5,
  );
});

test('each symptom has where to look, a cause and a remedy, and is linked at the top', () => {
  const [top = '', ...symptoms] = TROUBLESHOOTING.split(/^### /m);
  assert.ok(symptoms.length >= 20, `${symptoms.length} symptoms`);
  for (const symptom of symptoms) {
    const [heading = ''] = symptom.split('\n');
    for (const part of ['- **Look**', '- **Cause.**', '- **Remedy.**'])
      assert.ok(symptom.includes(part), `${heading}: ${part}`);
  }
  assert.equal(named(/\]\(#([^)]*)\)/g, top).length, symptoms.length);
});

/** Fields and statistics of Envoy, which are looked for elsewhere or stand in `envoy/eds.yaml`. */
const ENVOYS = new Set(
  [...read('deploy/envoy/eds.yaml').matchAll(/[a-z]+(?:_[a-z0-9]+)+/g)].map(([name]) => name),
);
for (const name of [
  'version_text',
  'membership_total',
  'client_side_weighted_round_robin',
  'credentials_file',
])
  ENVOYS.add(name);
