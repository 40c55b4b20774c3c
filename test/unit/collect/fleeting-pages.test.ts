import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { PageClient } from '../../../src/collect/page-client.ts';
import type { PageResult } from '../../../src/collect/page-source.ts';
import { collectSettings } from '../../support/collect-settings.ts';
import { RawServer, response } from '../../support/raw-server.ts';

const SERVERS = 12;
const ROUNDS = 6;

/** Of one server: no other one has any part of it. */
function pageOf(server: number, bytes: number): string {
  return `server_${server} 1\n`.repeat(Math.ceil(bytes / 11));
}

/** A piece with each turn of the event loop, so that those of other servers come in between. */
function sendInPieces(socket: Socket, bytes: Buffer, size: number): void {
  socket.write(bytes.subarray(0, size));
  if (bytes.length > size) setImmediate(sendInPieces, socket, bytes.subarray(size), size);
}

function textOf(result: PageResult): string {
  return result.kind === 'page' ? Buffer.from(result.page).toString() : result.failure.message;
}

test('many pages at once, in one piece or in many, are each the own of their server', async (t) => {
  const pages = Array.from({ length: SERVERS }, (_, server) => pageOf(server, 500 * 3 ** (server % 6)));
  const servers = await Promise.all(
    pages.map((page, server) =>
      RawServer.start((socket) => {
        const head = server % 4 === 3 ? ['transfer-encoding: chunked'] : [];
        const chunked = `HTTP/1.1 200 OK\r\n${head.join('')}\r\n\r\n${page.length.toString(16)}\r\n${page}\r\n0\r\n\r\n`;
        const answer = head.length > 0 ? Buffer.from(chunked) : response(page);
        sendInPieces(socket, answer, server % 2 === 0 ? answer.length : 7000);
      }),
    ),
  );
  const clients = servers.map(
    ({ backend }) => new PageClient(backend, collectSettings(), { fleeting: true }),
  );
  t.after(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(servers.map((server) => server.stop()));
  });
  const { signal } = new AbortController();
  for (let round = 0; round < ROUNDS; round++) {
    const texts = await Promise.all(clients.map((client) => client.fetch(signal).then(textOf)));
    for (const [server, text] of texts.entries()) {
      assert.ok(text === pages[server], `server ${server}: ${text.slice(0, 60)}`);
    }
  }
  assert.deepEqual(
    servers.map(({ connections }) => connections),
    servers.map(() => 1),
  );
});

test('a page that is not to be fleeting stays what it was', async (t) => {
  let count = 0;
  const server = await RawServer.start((socket) => socket.write(response(`page ${++count} `.repeat(1000))));
  const client = new PageClient(server.backend, collectSettings());
  t.after(async () => {
    await client.close();
    await server.stop();
  });
  const { signal } = new AbortController();
  const first = await client.fetch(signal);
  await client.fetch(signal);
  assert.equal(textOf(first), 'page 1 '.repeat(1000));
});
