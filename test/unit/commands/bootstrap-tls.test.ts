import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { makeBootstrap } from '../../../src/commands/bootstrap.ts';
import type { Configuration, TlsFiles } from '../../../src/core/model/configuration.ts';
import { configuration } from '../../support/configuration.ts';
import { assertGolden } from '../../support/golden.ts';
import { xdsSettings } from '../../support/xds-settings.ts';

const SERVER_ONLY: TlsFiles = { certFile: 'server.crt', keyFile: 'server.key', clientCaFile: undefined };
const MUTUAL: TlsFiles = { ...SERVER_ONLY, clientCaFile: 'ca.crt' };
const FILES = { ca: '/tls/ca.crt', cert: '/tls/client.crt', key: '/tls/client.key' };

function withTls(tls: TlsFiles | undefined): Configuration {
  return configuration({ xds: { ...xdsSettings(), tls } });
}

function made(of: Configuration, options: object): string {
  const result = makeBootstrap(of, { mode: 'ads', json: false, ...options });
  assert.equal(result.kind, 'ok', JSON.stringify(result));
  return result.value;
}

/** The TLS settings of the control plane's cluster. */
function context(text: string): unknown {
  const { static_resources: resources } = parse(text) as {
    static_resources: { clusters: readonly { name: string; transport_socket?: { typed_config: unknown } }[] };
  };
  return resources.clusters.find(({ name }) => name === 'plimsoll_xds')?.transport_socket?.typed_config;
}

test('with a certificate of its own, to a name', () => {
  assertGolden(
    'bootstrap/ads-tls.yaml',
    made(withTls(MUTUAL), { ...FILES, xds: ['plimsoll.example:18000'] }),
  );
});

test('without a certificate of its own, to an address', () => {
  const text = made(withTls(SERVER_ONLY), { ca: FILES.ca, xds: ['[2001:db8::5]:18000'] });
  assert.deepEqual(context(text), {
    '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
    common_tls_context: {
      alpn_protocols: ['h2'],
      validation_context: {
        trusted_ca: { filename: '/tls/ca.crt' },
        match_typed_subject_alt_names: [{ san_type: 'IP_ADDRESS', matcher: { exact: '2001:db8::5' } }],
      },
    },
  });
});

test('to replicas: the certificate of any of them, and no name is said that is not of all', () => {
  const xds = ['a.example:18000', 'b.example:18000', '10.0.0.5:18000'];
  const { sni, common_tls_context: common } = context(made(withTls(SERVER_ONLY), { ca: FILES.ca, xds })) as {
    sni?: string;
    common_tls_context: { validation_context: { match_typed_subject_alt_names: unknown } };
  };
  assert.equal(sni, undefined);
  assert.deepEqual(common.validation_context.match_typed_subject_alt_names, [
    { san_type: 'DNS', matcher: { exact: 'a.example' } },
    { san_type: 'DNS', matcher: { exact: 'b.example' } },
    { san_type: 'IP_ADDRESS', matcher: { exact: '10.0.0.5' } },
  ]);
});

test('mode eds has the same', () => {
  const options = { ...FILES, xds: ['plimsoll.example:18000'] };
  const eds = made(withTls(MUTUAL), { ...options, mode: 'eds' });
  assert.deepEqual(context(eds), context(made(withTls(MUTUAL), options)));
});

test('a certificate is welcome where none is asked for', () => {
  assert.match(JSON.stringify(context(made(withTls(SERVER_ONLY), FILES))), /client\.crt/);
});

test('plain text without Xds.Tls', () => {
  assert.equal(context(made(withTls(undefined), {})), undefined);
});

const { ca, cert, key } = FILES;
const REFUSED: readonly (readonly [
  name: string,
  tls: TlsFiles | undefined,
  options: object,
  reason: string,
])[] = [
  [
    '--ca without Xds.Tls',
    undefined,
    { ca },
    '--ca, --cert and --key are for TLS, and the configuration has no Xds.Tls',
  ],
  [
    '--cert and --key without Xds.Tls',
    undefined,
    { cert, key },
    '--ca, --cert and --key are for TLS, and the configuration has no Xds.Tls',
  ],
  ['--cert without --key', MUTUAL, { ca, cert }, '--cert and --key go together'],
  ['--key without --cert', MUTUAL, { ca, key }, '--cert and --key go together'],
  [
    'Xds.Tls without --ca',
    SERVER_ONLY,
    { cert, key },
    '--ca FILE is needed: the configuration has Xds.Tls, and a sidecar has to know the authority of its certificate',
  ],
  [
    'ClientCaFile without --cert and --key',
    MUTUAL,
    { ca },
    '--cert FILE and --key FILE are needed: Xds.Tls.ClientCaFile asks clients for a certificate',
  ],
];

for (const [name, tls, options, reason] of REFUSED) {
  test(`refused: ${name}`, () => {
    const result = makeBootstrap(withTls(tls), { mode: 'ads', json: false, ...options });
    assert.deepEqual(result, { kind: 'refused', reason });
  });
}
