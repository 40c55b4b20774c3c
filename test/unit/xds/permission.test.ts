import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationRule } from '../../../src/core/model/configuration.ts';
import { type Identity, identitiesOf } from '../../../src/xds/identity.ts';
import { permissionOf } from '../../../src/xds/permission.ts';

/** What may be seen, as text. */
function seen(rules: Readonly<Record<string, string>> | undefined, names: string): string {
  const list =
    rules &&
    Object.entries(rules).map(
      ([identity, groups]): AuthorizationRule => ({
        identity,
        serverGroups: groups === '*' ? 'all' : groups.split(' '),
      }),
    );
  const permission = permissionOf(list, identitiesOf(names));
  return permission.kind === 'groups' ? [...permission.serverGroups].toSorted().join(' ') : permission.kind;
}

const LLAMA = 'spiffe://cluster.local/ns/llama/*';

const TABLE: readonly (readonly [rules: Record<string, string>, names: string, seen: string])[] = [
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://cluster.local/ns/llama/sa/default', 'llama'],
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://cluster.local/ns/llama/x', 'llama'],
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://cluster.local/ns/llama/', 'none'],
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://cluster.local/ns/llama', 'none'],
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://cluster.local/ns/llama-evil/sa', 'none'],
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://cluster.local.evil/ns/llama/x', 'none'],
  [{ [LLAMA]: 'llama' }, 'URI:spiffe://CLUSTER.local/ns/llama/x', 'none'],
  [{ [LLAMA]: 'llama' }, 'URI:x:spiffe://cluster.local/ns/llama/x', 'none'],
  [{ [LLAMA]: 'llama' }, 'DNS:spiffe://cluster.local/ns/llama/x', 'none'],
  [{ 'spiffe://a/b': 'llama' }, 'URI:spiffe://a/b', 'llama'],
  [{ 'spiffe://a/b': 'llama' }, 'URI:spiffe://a/b/c', 'none'],
  [{ 'spiffe://a/b': 'llama' }, 'URI:spiffe://a/B', 'none'],
  [{ 'spiffe://*': 'llama' }, 'URI:spiffe://a/b', 'llama'],
  [{ 'Sidecar.Example': 'llama' }, 'DNS:sidecar.EXAMPLE', 'llama'],
  [{ 'sidecar.example': 'llama' }, 'DNS:x.sidecar.example', 'none'],
  [{ 'sidecar.example': 'llama' }, 'URI:sidecar.example', 'none'],
  [{ 'sidecar.example': 'llama' }, 'email:sidecar.example', 'none'],
  [{ 'sidecar.example': 'llama' }, '', 'none'],
  [{ '*': 'llama' }, '', 'llama'],
  [{ '*': 'llama' }, 'DNS:any', 'llama'],
  [{ '*': '*' }, 'DNS:any', 'all'],
  [{ a: 'llama', b: 'mistral' }, 'DNS:a, DNS:b', 'llama mistral'],
  [{ a: 'llama', b: 'mistral' }, 'DNS:b', 'mistral'],
  [{ a: 'llama', '*': 'mistral' }, 'DNS:a', 'llama mistral'],
  [{ a: 'llama', b: '*' }, 'DNS:a, DNS:b', 'all'],
  [{ a: 'llama qwen mistral' }, 'DNS:c, DNS:a', 'llama mistral qwen'],
];

for (const [rules, names, expected] of TABLE) {
  test(`${JSON.stringify(rules)}: ${names || 'no name'} may see ${expected}`, () => {
    assert.equal(seen(rules, names), expected);
  });
}

test('without rules everybody may see all', () => {
  const nobody: readonly Identity[] = [];
  assert.deepEqual(permissionOf(undefined, nobody), { kind: 'all' });
});
