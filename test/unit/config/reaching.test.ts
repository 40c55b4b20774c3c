import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { effectiveFile, writeYaml } from '../../../src/config/effective.ts';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { REDACTED } from '../../../src/config/mistake.ts';

import { type ConfigurationFile, configurationFile } from '../../../src/config/schema.ts';
import type { CollectSettings } from '../../../src/core/model/collect-settings.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { edit } from './bad/bad-file.ts';
import { reaching, SECRET } from './bad/reaching.ts';

function good(text: string): Configuration {
  const result = parseConfiguration(text, 'good');
  if (result.kind === 'valid') return result.configuration;
  return assert.fail(result.mistakes.map(formatMistake).join('\n'));
}

function collect(fields: string): CollectSettings | undefined {
  const text = edit(['{Path: /metrics}', `{Path: /metrics, ${fields}}`]);
  return good(text).serverGroups[0]?.loadAware?.collect;
}

function effective(text: string): string {
  return writeYaml(effectiveFile(configurationFile.parse(parse(text)) satisfies ConfigurationFile));
}

test('another port, https, headers, a token and certificates', () => {
  assert.deepEqual(
    collect(
      'Port: 8002, Scheme: https, BearerTokenFile: run/token, Headers: {X-Scope: "a b", x-key: {File: /run/key}}, ' +
        'Tls: {CaFile: ca.crt, ServerName: vllm.example, CertFile: own.crt, KeyFile: own.key, InsecureSkipVerify: true}',
    ),
    collectSettings({
      port: 8002,
      scheme: 'https',
      bearerTokenFile: 'run/token',
      headers: [
        { name: 'X-Scope', value: 'a b', file: undefined },
        { name: 'x-key', value: undefined, file: '/run/key' },
      ],
      tls: {
        caFile: 'ca.crt',
        serverName: 'vllm.example',
        certFile: 'own.crt',
        keyFile: 'own.key',
        insecureSkipVerify: true,
      },
    }),
  );
});

test('an Authorization header of another kind than a bearer token', () => {
  const { headers } = collect('Headers: {Authorization: Basic dXNlcjpwYXNz}') ?? {};
  assert.deepEqual(headers, [{ name: 'Authorization', value: 'Basic dXNlcjpwYXNz', file: undefined }]);
});

test('a page is fetched leanly where it can be, unless told otherwise', () => {
  assert.equal(collect('Scheme: http')?.leanScrape, true);
  assert.equal(collect('LeanScrape: false')?.leanScrape, false);
  assert.equal(collect('Method: POST')?.leanScrape, false);
  assert.equal(collect('Method: POST, LeanScrape: false')?.leanScrape, false);
});

test('link-local backends, where they are allowed', () => {
  const text = edit(
    ['Scheduler: Wrr', 'Scheduler: Wrr\n    AllowLinkLocal: true'],
    ['10.0.3.11', '169.254.3.11'],
    ['10.0.3.12', 'fe80::1'],
  );
  assert.deepEqual(
    good(text).serverGroups[0]?.servers.map(({ address }) => address),
    ['169.254.3.11', 'fe80::1'],
  );
  assert.deepEqual(good(effective(text)), good(text));
});

test('the effective file has the fields, and in place of the values of headers none', () => {
  const text = edit([
    '{Path: /metrics}',
    `{Path: /metrics, Scheme: https, BearerTokenFile: run/token, Tls: {CaFile: ca.crt}, Headers: {X-Key: ${SECRET}, X-Other: {File: /run/key}}}`,
  ]);
  const printed = effective(text);
  assert.ok(!printed.includes(SECRET), printed);
  assert.ok(
    printed.includes(
      `Headers:\n                X-Key: ${REDACTED}\n                X-Other: {File: /run/key}`,
    ),
  );
  assert.deepEqual(good(printed.replace(REDACTED, SECRET)), good(text));
});

test('no mistake shows a secret', () => {
  const withSecret = reaching.filter(({ text }) => text.includes(SECRET));
  assert.ok(withSecret.length > 10);
  for (const { text } of withSecret) {
    const result = parseConfiguration(text, 'bad');
    assert.equal(result.kind, 'invalid');
    for (const mistake of result.mistakes)
      assert.ok(!formatMistake(mistake).includes(SECRET), mistake.message);
  }
});
