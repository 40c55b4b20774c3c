import assert from 'node:assert/strict';
import { createServer as createPlain } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { adminHint, withHint } from '../../../src/commands/admin-hint.ts';
import { askAdmin } from '../../../src/commands/ask-admin.ts';
import { readState } from '../../../src/commands/plimsoll-answers.ts';
import { sampleLines } from '../../../src/commands/sample-stream.ts';
import { TestCa } from '../../support/pki.ts';

const LISTEN = "Plimsoll's Admin.Listen goes into --admin URL";

function hint(code: string, message: string, url: string): string | undefined {
  return adminHint(Object.assign(new Error(message), { code }), new URL(url));
}

test('an admin address that gives no answer: what to do is by the reason', () => {
  const https = 'https://127.0.0.1:9090';
  const http = 'http://127.0.0.1:9090';
  const cases: readonly (readonly [code: string, message: string, url: string, hint: string | undefined])[] =
    [
      ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:9090', https, LISTEN],
      ['ENOTFOUND', 'getaddrinfo ENOTFOUND nowhere', http, LISTEN],
      ['ECONNRESET', 'socket hang up', http, 'With Admin.Tls the URL begins with https'],
      ['ECONNRESET', 'socket hang up', https, undefined],
      ['ECONNRESET', 'aborted', http, undefined],
      ['EPROTO', 'write EPROTO …', https, 'Without Admin.Tls the URL begins with http'],
      ['CERT_HAS_EXPIRED', 'certificate has expired', https, undefined],
      [
        'ERR_TLS_CERT_ALTNAME_INVALID',
        'IP: 127.0.0.1 is not in the list',
        https,
        '--admin URL has to have a name of the certificate',
      ],
      ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'].map(
        (code) => [code, 'not verified', https, '--ca FILE names the authority of its certificate'] as const,
      ),
    ];
  for (const [code, message, url, expected] of cases) assert.equal(hint(code, message, url), expected, code);
  assert.equal(adminHint(new DOMException('late', 'TimeoutError'), new URL(http)), LISTEN);
  assert.equal(adminHint(new Error('it answered 401'), new URL(http)), undefined);
});

test('the hint goes behind the reason', () => {
  assert.equal(withHint('a', 'b'), 'a. b');
  assert.equal(withHint('a', undefined), 'a');
});

test('TLS on one side only, and an authority that nobody knows', async () => {
  const ca = await TestCa.create();
  const secure = createSecure(await ca.issue({ ip: ['127.0.0.1'] }), (_request, response) =>
    response.end('{}'),
  );
  const plain = createPlain((_request, response) => response.end('{}'));
  const [securePort, plainPort] = await Promise.all(
    [secure, plain].map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    }),
  );
  const cases = [
    [`https://127.0.0.1:${securePort}`, '--ca FILE names the authority of its certificate'],
    [`http://127.0.0.1:${securePort}`, 'With Admin.Tls the URL begins with https'],
    [`https://127.0.0.1:${plainPort}`, 'Without Admin.Tls the URL begins with http'],
  ] as const;
  try {
    for (const [url, expected] of cases) {
      const access = { url: new URL(url), ca: undefined, token: undefined };
      const asked = await askAdmin(access, '/state');
      assert.equal(asked.kind === 'unreachable' ? asked.hint : 'answered', expected);
      const read = await readState(access);
      assert.equal(read.kind === 'failed' ? read.hint : 'answered', expected);
      const lines = sampleLines(access, new AbortController().signal);
      const error: unknown = await lines.next().catch((reason: unknown) => reason);
      assert.equal(adminHint(error, access.url), expected);
    }
    const access = { url: new URL(cases[2][0]), ca: undefined, token: undefined };
    const asked = await askAdmin(access, '/state');
    assert.equal(asked.kind === 'unreachable' && asked.reason, 'it answered without TLS');
  } finally {
    for (const server of [secure, plain]) {
      server.closeAllConnections();
      server.close();
    }
  }
});
