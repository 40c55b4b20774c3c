import assert from 'node:assert/strict';
import { test } from 'node:test';
import Fastify from 'fastify';
import { addPageRoutes } from '../../../src/admin/page-routes.ts';

const http = Fastify();
addPageRoutes(http);

test('the page has a policy that lets nothing in but its own files', async () => {
  const { statusCode, headers } = await http.inject('/');
  assert.equal(statusCode, 200);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
});

test('a file that has not changed is not sent again', async () => {
  const { headers } = await http.inject('/assets/page/page.css');
  const again = await http.inject({
    url: '/assets/page/page.css',
    headers: { 'if-none-match': headers.etag },
  });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
});

test('no other file can be had', async () => {
  for (const path of [
    'page/../server.js',
    'page/%2e%2e/server.js',
    'page/..%2fserver.js',
    '..%2f..%2f..%2fpackage.json',
    'server.js',
    'page/',
    'page/nothing.js',
    'page/view/tsconfig.json',
    'page//view/main.js',
    '%00',
    'words/figures.js%00.css',
  ]) {
    const { statusCode, body } = await http.inject(`/assets/${path}`);
    assert.equal(statusCode, 404, `${path}: ${body.slice(0, 100)}`);
  }
});
