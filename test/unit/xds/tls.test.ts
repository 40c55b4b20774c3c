import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { status } from '@grpc/grpc-js';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { type Issued, TestCa } from '../../support/pki.ts';
import { framed } from '../../support/raw-grpc.ts';
import { RawHttp2 } from '../../support/raw-http2.ts';
import { snapshot } from '../../support/snapshots.ts';
import { TlsHarness } from '../../support/tls-harness.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { XdsClient } from '../../support/xds-client.ts';

const { endpoint: EDS } = TYPE_URLS;

let harness: TlsHarness;
let right: Issued;

before(async () => {
  harness = await TlsHarness.start();
  harness.store.set(snapshot({ endpoint: { llama: '1' } }));
  right = await harness.ca.issue({ uri: ['spiffe://test/right'] });
});

afterEach(() => {
  harness.closeClients();
});

after(() => harness.stop());

/** Opens a stream and asks. */
function ask(client: XdsClient) {
  const stream = client.open('eds', 'delta');
  stream.send({ typeUrl: EDS, node: { id: 'sidecar' }, resourceNamesSubscribe: ['llama'] });
  return stream;
}

/** Tries a handshake. @returns what became of it: the protocol that was agreed on, or the error. */
async function shake(options: ConnectionOptions, { address, ca } = harness): Promise<string> {
  const { host, port } = address;
  const socket = connect({ host, port, ca: ca.cert, ALPNProtocols: ['h2'], ...options });
  return new Promise((resolve) => {
    socket.once('secureConnect', () => {
      // what the server thinks of the client's certificate shows only afterwards in TLS 1.3
      if (socket.getProtocol() === 'TLSv1.2') resolve(outcome(socket));
      else socket.once('data', () => resolve(outcome(socket))).once('close', () => resolve('closed'));
    });
    socket.once('error', (error: Error & { code?: string }) => resolve(error.code ?? error.message));
  }).finally(() => socket.destroy()) as Promise<string>;
}

function outcome(socket: TLSSocket): string {
  return `${socket.getProtocol()} ${socket.alpnProtocol}`;
}

test('a client with a certificate of the authority is served', async () => {
  const response = await ask(harness.client(right)).next();
  assert.equal(response.resources[0]?.value.toString(), 'llama@1');
});

const WRONG: readonly (readonly [
  who: string,
  make: () => Issued | undefined | Promise<Issued>,
  failure: string,
  code: RegExp,
])[] = [
  ['no certificate', () => undefined, 'no_client_certificate', /DID_NOT_RETURN_A_CERTIFICATE/],
  [
    'one of another authority',
    async () => (await TestCa.create('CN=other')).issue(),
    'client_certificate_refused',
    /^UNABLE_TO_/,
  ],
  [
    'one of another authority that has the same name',
    async () => (await TestCa.create()).issue(),
    'client_certificate_refused',
    /^(UNABLE_TO_|CERT_SIGNATURE_FAILURE)/,
  ],
  [
    'an expired one',
    () => harness.ca.issue({ validHours: [-2, -1] }),
    'client_certificate_refused',
    /^CERT_HAS_EXPIRED$/,
  ],
  [
    'one of tomorrow',
    () => harness.ca.issue({ validHours: [1, 2] }),
    'client_certificate_refused',
    /^CERT_NOT_YET_VALID$/,
  ],
  [
    'one that is for servers only',
    () => harness.ca.issue({ usage: 'server' }),
    'client_certificate_refused',
    /^INVALID_PURPOSE$/,
  ],
];

for (const [who, make, failure, code] of WRONG) {
  test(`a client with ${who} does not get through, and the log says who and why`, async () => {
    harness.failures.length = 0;
    const stream = ask(harness.client(await make()));
    assert.equal((await stream.ended()).code, status.UNAVAILABLE);
    assert.deepEqual(stream.responses, []);
    await waitFor('the failure', () => harness.failures.includes(failure));
    const line = await waitFor('the log', () =>
      harness.log.find((each) => each['reason'] === failure && code.test(String(each['code']))),
    );
    assert.equal(line['peer'], '127.0.0.1');
  });
}

test('several wrong clients at once are all counted', async () => {
  const own = await TlsHarness.start();
  const expired = await own.ca.issue({ validHours: [-2, -1] });
  const each = [{ ...expired }, {}, { ...expired }, { ...expired }, {}].map((options) => shake(options, own));
  await Promise.all(each);
  await waitFor('the failures', () => own.failures.length === 5);
  await own.stop();
  const refused = own.failures.filter((reason) => reason === 'client_certificate_refused');
  assert.equal(refused.length, 3);
});

test('TLS 1.2 and 1.3 with HTTP/2, nothing older and nothing else', async () => {
  const own = await TlsHarness.start();
  const client = await own.ca.issue();
  assert.equal(await shake({ ...client }, own), 'TLSv1.3 h2');
  assert.equal(await shake({ ...client, maxVersion: 'TLSv1.2' }, own), 'TLSv1.2 h2');
  assert.match(
    await shake(
      { ...client, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      own,
    ),
    /ALERT_PROTOCOL_VERSION/,
  );
  assert.match(await shake({ ...client, ALPNProtocols: ['http/1.1'] }, own), /NO_APPLICATION_PROTOCOL/);
  await waitFor('the failures', () => own.failures.length === 2);
  assert.deepEqual(own.failures, ['protocol', 'no_h2']);
  await own.stop();
});

test('clients without ALPN are turned away, however many', async () => {
  const own = await TlsHarness.start();
  const client = await own.ca.issue();
  for (let i = 0; i < 50; i++) await shake({ ...client, ALPNProtocols: [] }, own);
  await waitFor('the failures', () => own.failures.length === 50);
  assert.deepEqual(new Set(own.failures), new Set(['no_h2']));
  await own.stop();
});

test('connections that say nothing do not lock out a client with a certificate of the same address', async () => {
  const { host, port } = harness.address;
  const silent = Array.from({ length: 1100 }, () =>
    connectPlain({ host, port })
      .on('error', () => undefined)
      .resume(),
  );
  await waitFor('the connections', () => silent.every((socket) => !socket.connecting));
  const response = await ask(harness.client(right)).next();
  assert.equal(response.resources[0]?.value.toString(), 'llama@1');
  for (const socket of silent) socket.destroy();
});

test('half messages behind TLS cost their connection, and others notice nothing', async () => {
  const bystander = ask(harness.client(right));
  await bystander.next();
  const attackers = Array.from(
    { length: 5 },
    () => new RawHttp2(harness.address, { ...right, ca: harness.ca.cert }),
  );
  for (const attacker of attackers) {
    for (let i = 0; i < 20; i++) attacker.data(attacker.open(), framed(Buffer.alloc(900_000), 0, 1_000_000));
  }
  await waitFor('the closes', () => attackers.every(({ closed }) => closed));
  assert.ok(
    harness.log.some(({ reason }) => /^Xds.Limits.MessageBytes: \d+ bytes that make/.test(String(reason))),
  );
  assert.equal(bystander.status, undefined);
});

test('plain text is no handshake, a health check that says nothing is no failure', async () => {
  const own = await TlsHarness.start();
  const { host, port } = own.address;
  const silent = connectPlain({ host, port });
  silent.once('connect', () => silent.destroy());
  const plain = connectPlain({ host, port });
  plain.on('error', () => undefined).write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await waitFor('the failure', () => own.failures.length > 0);
  plain.destroy();
  assert.deepEqual(own.failures, ['protocol']);
  await own.stop();
});

test('a client that does not trust the server mostly just goes', async () => {
  harness.failures.length = 0;
  const stranger = await TestCa.create('CN=other');
  assert.equal((await ask(harness.client(right, stranger)).ended()).code, status.UNAVAILABLE);
  await waitFor('the failure', () => harness.failures.includes('gone'));
});

test('a session is not resumed: each connection shows its certificate', async () => {
  const { host, port } = harness.address;
  const options = { host, port, ca: harness.ca.cert, ALPNProtocols: ['h2'], ...right };
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = connect({ ...options, maxVersion });
    const sessions: Buffer[] = [];
    first.on('session', (session: Buffer) => sessions.push(session));
    await waitFor('the handshake', () => first.readableLength > 0 || first.bytesRead > 2000);
    first.destroy();
    const session = sessions.at(-1) ?? first.getSession();
    const again = connect({ ...options, maxVersion, ...(session === undefined ? {} : { session }) });
    await waitFor('the handshake', () => again.getProtocol() !== null && again.authorized);
    assert.equal(again.isSessionReused(), false, maxVersion);
    again.destroy();
  }
});

test('without authorities for clients nobody needs a certificate', async () => {
  const open = await TlsHarness.start({ clientCa: false });
  open.store.set(snapshot({ endpoint: { llama: '1' } }));
  assert.equal((await ask(open.client()).next()).resources.length, 1);
  await open.stop();
});

test('rotation: streams live on, new connections see the new certificate', async () => {
  const rotating = await TlsHarness.start();
  rotating.store.set(snapshot({ endpoint: { llama: '1' } }));
  const stream = ask(rotating.client(await rotating.ca.issue()));
  stream.acknowledge(await stream.next());
  const next = await rotating.ca.issue({ ip: ['127.0.0.1'] });
  await rotating.install(next);
  await waitFor('the new certificate', () => rotating.taken === 2);
  rotating.store.set(snapshot({ endpoint: { llama: '2' } }));
  assert.equal((await stream.next()).resources[0]?.value.toString(), 'llama@2');
  assert.equal(stream.status, undefined);
  const { host, port } = rotating.address;
  const socket = connect({
    host,
    port,
    ca: rotating.ca.cert,
    ALPNProtocols: ['h2'],
    ...(await rotating.ca.issue()),
  });
  await waitFor('the handshake', () => socket.authorized);
  assert.deepEqual(socket.getPeerCertificate().raw, new X509Certificate(next.cert).raw);
  socket.destroy();
  await rotating.stop();
});

test('rotation of the authorities: the old ones hold no longer for new connections', async () => {
  const rotating = await TlsHarness.start();
  rotating.store.set(snapshot({ endpoint: { llama: '1' } }));
  const successor = await TestCa.create('CN=successor');
  const [old, young] = [await rotating.ca.issue(), await successor.issue()];
  const living = ask(rotating.client(old));
  await living.next();
  assert.equal((await ask(rotating.client(young)).ended()).code, status.UNAVAILABLE);
  await writeFile(join(rotating.folder, 'ca.crt'), successor.cert);
  await waitFor('the new authority', () => rotating.taken === 2);
  assert.equal((await ask(rotating.client(young)).next()).resources.length, 1);
  assert.equal((await ask(rotating.client(old)).ended()).code, status.UNAVAILABLE);
  assert.equal(living.status, undefined);
  await rotating.stop();
});

test('a bad new file keeps the old certificate', async () => {
  const rotating = await TlsHarness.start();
  rotating.store.set(snapshot({ endpoint: { llama: '1' } }));
  await writeFile(join(rotating.folder, 'tls.key'), (await rotating.ca.issue()).key);
  await waitFor('the refusal', () => rotating.refused === 1);
  assert.equal((await ask(rotating.client(await rotating.ca.issue())).next()).resources.length, 1);
  assert.ok(rotating.log.some(({ reason }) => /KeyFile .* is not the key/.test(String(reason))));
  await rotating.stop();
});
