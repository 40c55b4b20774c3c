import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { effectiveFile, writeYaml } from '../../../src/config/effective.ts';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { configurationFile } from '../../../src/config/schema.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';

const TEXT = `Xds:
  Tls: {CertFile: tls/server.crt, KeyFile: /etc/tls/server.key, ClientCaFile: ./ca.crt}
  Authorization:
    - {Identity: spiffe://cluster.local/ns/llama/*, ServerGroups: [llama]}
    - {Identity: spiffe://cluster.local/ns/gateway/sa/edge, ServerGroups: [llama, '*']}
    - {Identity: sidecar-7.Example.com, ServerGroups: ['*']}
    - {Identity: '*', ServerGroups: [llama]}
ServerGroups: [{Name: llama, Servers: [{Address: 10.0.3.11, Port: 8000}]}]
`;

function xdsOf(text: string): Configuration['xds'] {
  const result = parseConfiguration(text, 'good');
  if (result.kind === 'valid') return result.configuration.xds;
  return assert.fail(result.mistakes.map(formatMistake).join('\n'));
}

test('TLS, and who may see what', () => {
  const { tls, authorization } = xdsOf(TEXT);
  assert.deepEqual(tls, {
    certFile: 'tls/server.crt',
    keyFile: '/etc/tls/server.key',
    clientCaFile: './ca.crt',
  });
  assert.deepEqual(authorization, [
    { identity: 'spiffe://cluster.local/ns/llama/*', serverGroups: ['llama'] },
    { identity: 'spiffe://cluster.local/ns/gateway/sa/edge', serverGroups: 'all' },
    { identity: 'sidecar-7.Example.com', serverGroups: 'all' },
    { identity: '*', serverGroups: ['llama'] },
  ]);
});

test('by default neither', () => {
  const { tls, authorization } = xdsOf(TEXT.slice(TEXT.indexOf('ServerGroups: [{Name')));
  assert.deepEqual([tls, authorization], [undefined, undefined]);
});

test('TLS without client certificates', () => {
  const { tls } = xdsOf(
    `Xds: {Tls: {CertFile: a, KeyFile: b}}\n${TEXT.slice(TEXT.indexOf('ServerGroups: [{Name'))}`,
  );
  assert.deepEqual(tls, { certFile: 'a', keyFile: 'b', clientCaFile: undefined });
});

test('the effective file says the same', () => {
  const effective = writeYaml(effectiveFile(configurationFile.parse(parse(TEXT))));
  assert.deepEqual(xdsOf(effective), xdsOf(TEXT));
});

test('the admin address: TLS, a token, and names that it may be asked under', () => {
  const admin = `Admin: {Tls: {CertFile: a, KeyFile: b}, BearerTokenFile: c, Hosts: [Plimsoll.example]}\n`;
  const result = parseConfiguration(admin + TEXT, 'good');
  assert.ok(result.kind === 'valid');
  assert.deepEqual(result.configuration.admin, {
    listen: { host: '127.0.0.1', port: 9090 },
    tls: { certFile: 'a', keyFile: 'b' },
    bearerTokenFile: 'c',
    hosts: ['plimsoll.example'],
  });
  const again = parseConfiguration(writeYaml(effectiveFile(result.fields)), 'effective');
  assert.ok(again.kind === 'valid');
  assert.deepEqual(again.configuration.admin, result.configuration.admin);
});
