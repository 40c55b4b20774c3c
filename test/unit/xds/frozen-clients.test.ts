import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TYPE_URLS } from '../../../src/xds/resources/type-urls.ts';
import { DISCOVERY, encode } from '../../support/discovery-proto.ts';
import type { Answer, Command } from '../../support/frozen-server.ts';
import { framed, RawConnection } from '../../support/raw-grpc.ts';
import { waitFor } from '../../support/wait-for.ts';
import { XdsClient, type XdsTestStream } from '../../support/xds-client.ts';

const FROZEN = 200;
const READERS = 4;
const PUSHES = 100;
const BYTES = 300_000;
const MEGABYTE = 1e6;

let child: ChildProcess;
let port: number;

before(async () => {
  child = fork(fileURLToPath(new URL('../../support/frozen-server.ts', import.meta.url)), [], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
  });
  port = (await answer()).port;
});

after(async () => {
  if (child.exitCode !== null) return;
  const exited = once(child, 'exit');
  child.send({ kind: 'stop' } satisfies Command);
  await exited;
});

async function answer(): Promise<Answer> {
  const waiting = new AbortController();
  const onExit = (): void => {
    waiting.abort(new Error('the server process has ended'));
  };
  child.once('exit', onExit);
  const [message] = (await once(child, 'message', { signal: waiting.signal })) as [Answer];
  child.off('exit', onExit);
  return message;
}

function tell(command: Command): Promise<Answer> {
  const answered = answer();
  child.send(command);
  return answered;
}

const address = () => ({ host: '127.0.0.1', port });
const request = { typeUrl: TYPE_URLS.endpoint, resourceNamesSubscribe: ['a'] };

/** A client that acknowledges whatever it gets. */
function reader(): {
  readonly client: XdsClient;
  readonly stream: XdsTestStream;
  readonly versions: string[];
} {
  const client = new XdsClient(address());
  const stream = client.open('ads', 'delta');
  const versions: string[] = [];
  stream.onResponse = (response) => {
    versions.push(response.resources[0]?.version ?? '');
    stream.responses.length = 0;
    stream.acknowledge(response);
  };
  stream.send(request);
  return { client, stream, versions };
}

function frozen(): RawConnection {
  const connection = new RawConnection(address());
  connection.open('delta').write(framed(encode(DISCOVERY.DeltaDiscoveryRequest, request)));
  return connection;
}

test('clients that read nothing cost less than 20 MB, are closed in time, and others notice nothing', async (t) => {
  const readers = Array.from({ length: READERS }, reader);
  await tell({ kind: 'streams', count: READERS });
  const push = (version: number) =>
    tell({ kind: 'push', version: String(version), bytes: BYTES, readers: READERS });
  const { usedBytes: alone } = await push(0);
  const clients = Array.from({ length: FROZEN }, frozen);
  await tell({ kind: 'streams', count: READERS + FROZEN });
  let most = 0;
  let resident = 0;
  for (let version = 1; version <= PUSHES; version++) {
    const { usedBytes, residentBytes } = await push(version);
    most = Math.max(most, usedBytes - alone);
    resident = Math.max(resident, residentBytes);
  }
  t.diagnostic(
    `${FROZEN} frozen clients: ${Math.round(most / MEGABYTE)} MB, process ${Math.round(resident / MEGABYTE)} MB`,
  );
  assert.ok(most < 20 * MEGABYTE, `${most} bytes`);
  assert.ok(clients.every((client) => !client.closed));
  for (const { versions, stream } of readers) {
    assert.deepEqual(
      versions,
      Array.from({ length: PUSHES + 1 }, (_, version) => String(version)),
    );
    assert.equal(stream.status, undefined);
  }

  const { refused } = await tell({ kind: 'advance', milliseconds: 36_000 });
  assert.deepEqual(refused, Array(FROZEN).fill('ReadSeconds'));
  await tell({ kind: 'streams', count: READERS });
  await waitFor('the closes', () => clients.every((client) => client.closed));
  const { usedBytes: afterwards } = await push(PUSHES + 1);
  assert.ok(afterwards - alone < 20 * MEGABYTE, `${afterwards - alone} bytes are left`);
  for (const { client, stream } of readers) {
    assert.equal(stream.status, undefined);
    client.close();
  }
});
