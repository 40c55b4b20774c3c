import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { identitiesOf } from '../../../src/xds/identity.ts';
import { TestCa } from '../../support/pki.ts';

let ca: TestCa;
before(async () => {
  ca = await TestCa.create();
});

test('URIs and DNS names, in their order, and nothing else', () => {
  const names =
    'URI:spiffe://cluster.local/ns/llama/sa/x, DNS:One.example, IP Address:10.0.0.1, email:a@b, DNS:two';
  assert.deepEqual(identitiesOf(names), [
    { kind: 'uri', name: 'spiffe://cluster.local/ns/llama/sa/x' },
    { kind: 'dns', name: 'one.example' },
    { kind: 'dns', name: 'two' },
  ]);
});

test('no names, no identity', () => {
  assert.deepEqual(identitiesOf(''), []);
});

test('what is not as Node writes it has no identity at all', () => {
  for (const text of [
    'DNS',
    'DNS:a DNS:b"',
    'DNS:a,URI:b',
    'DNS:"a',
    'DNS:"a"b',
    String.raw`DNS:"\q", DNS:a`,
    'DNS:a, "URI":b',
  ]) {
    assert.deepEqual(identitiesOf(text), [], text);
  }
});

test('no name can pass for two: certificates with anything in their names', async () => {
  const hostile = ['a, URI:b', 'a", URI:"b', 'a\\', '"', 'a\u0000b', ', DNS:x', "a', b", 'URI:b', 'é', ' '];
  for (const name of hostile) {
    const { cert } = await ca.issue({ uri: [name], dns: ['plain.example'] });
    const found = identitiesOf(new X509Certificate(cert).subjectAltName ?? '');
    assert.deepEqual(
      found.filter(({ kind }) => kind === 'dns').map((each) => each.name),
      ['plain.example'],
      name,
    );
    assert.ok(found.filter(({ kind }) => kind === 'uri').length <= 1, name);
    assert.ok(!found.some((each) => each.name === 'b'), name);
  }
});

test('a text that is read as names is made of them', () => {
  const ends = fc.array(
    fc.record({ kind: fc.constantFrom('URI', 'DNS', 'email'), name: fc.string({ unit: 'binary' }) }),
  );
  fc.assert(
    fc.property(ends, (list) => {
      const text = list.map(({ kind, name }) => `${kind}:${JSON.stringify(name)}`).join(', ');
      const expected = list.flatMap(({ kind, name }) => {
        if (kind === 'email') return [];
        return kind === 'URI' ? [{ kind: 'uri', name }] : [{ kind: 'dns', name: name.toLowerCase() }];
      });
      assert.deepEqual(identitiesOf(text), expected);
    }),
    { seed: 31, numRuns: 300 },
  );
});

test('no text makes the reader throw or loop', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('DNS', 'URI', ':', ', ', '"', '\\', 'a', ' ', ',') }),
      (text) => {
        identitiesOf(text);
      },
    ),
    { seed: 32, numRuns: 2000 },
  );
});
