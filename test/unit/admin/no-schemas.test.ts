import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import Fastify from 'fastify';
import { NO_SCHEMAS } from '../../../src/admin/no-schemas.ts';

const loaded = (name: string): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes(`/node_modules/${name}/`));

test('the compilers for schemas are not even loaded', async () => {
  const http = Fastify({ schemaController: NO_SCHEMAS });
  http.get('/', () => ({ a: 1 }));
  const { statusCode, body } = await http.inject('/');
  assert.deepEqual([statusCode, body], [200, '{"a":1}']);
  await http.close();
  assert.ok(loaded('fastify'), 'what is loaded shows');
  assert.deepEqual(['@fastify/ajv-compiler', 'ajv'].filter(loaded), []);
});

test('a route with a schema is refused at the start, in words', async () => {
  const http = Fastify({ schemaController: NO_SCHEMAS });
  http.get('/', { schema: { querystring: { type: 'object' } } }, () => ({}));
  await assert.rejects(async () => http.ready(), /a route of the admin server has a schema/);
});
