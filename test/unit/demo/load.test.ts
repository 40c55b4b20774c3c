import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import type { Arrival } from '../../../src/demo/arrivals.ts';
import { SimulatedBackend } from '../../../src/demo/backend.ts';
import { type LoadOptions, type LoadResult, runLoad } from '../../../src/demo/load.ts';
import { waitFor } from '../../support/wait-for.ts';

const stops: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function arrivals(count: number, everyMs = 0): readonly Arrival[] {
  return Array.from({ length: count }, (_, index) => ({
    atMs: index * everyMs,
    promptTokens: 10,
    outputTokens: 3,
  }));
}

async function one(origin: string, options: Partial<LoadOptions> = {}): Promise<LoadResult> {
  const [result, ...others] = await runLoad({ origin, arrivals: arrivals(1), ...options });
  assert.ok(result !== undefined && others.length === 0);
  return result;
}

test('an answer has its backend and its first token, which was told of when it came', async () => {
  const backend = await SimulatedBackend.start({ address: '127.83.2.1' });
  stops.push(() => backend.stop());
  const told: unknown[] = [];
  const result = await one(`http://${backend.id}`, {
    onFirstToken: (ms, by) => told.push([ms, by]),
    onResult: (of) => told.push(of),
  });
  assert.deepEqual([result.outcome, result.backend], [{ kind: 'ok' }, backend.id]);
  assert.ok(result.firstTokenMs !== undefined && result.firstTokenMs <= result.endMs);
  assert.deepEqual(told, [[result.firstTokenMs, backend.id], result]);
  assert.deepEqual([backend.counters.promptTokens, backend.counters.generatedTokens], [10, 3]);
});

test('when it is enough nothing more is sent, and what was sent is answered', async () => {
  const enough = new AbortController();
  const origin = await serve((_request, response) => {
    enough.abort();
    setTimeout(() => response.end('.'), 20);
  });
  const results = await runLoad({ origin, arrivals: arrivals(2, 60_000), enough: enough.signal });
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    [{ kind: 'ok' }],
  );
});

test('times count from the planned arrival, not from when the request could be sent', async () => {
  const origin = await serve((_request, response) => response.end('.'));
  const load = runLoad({ origin, arrivals: arrivals(2, 10) });
  const begin = performance.now();
  while (performance.now() < begin + 200); // nothing can be sent meanwhile
  const [, second] = await load;
  assert.ok((second?.firstTokenMs ?? 0) > 180, `${second?.firstTokenMs} ms`);
});

test('a request is sent at its time, whatever became of those before it', async () => {
  let open = 0;
  const finish: (() => void)[] = [];
  const origin = await serve((_request, response) => {
    open++;
    finish.push(() => response.end('.'));
  });
  const load = runLoad({ origin, arrivals: arrivals(5, 20) });
  await waitFor('all five', () => open === 5);
  for (const end of finish) end();
  assert.equal((await load).length, 5);
});

test('a proper 503 is told from any other', async () => {
  const proper = await serve((_request, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end('no available upstream');
  });
  const withoutHeader = await serve((_request, response) => {
    response.writeHead(503).end('no available upstream');
  });
  const otherBody = await serve((_request, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end('no healthy upstream');
  });
  assert.deepEqual((await one(proper)).outcome, { kind: 'no_upstream', retryAfter: '1' });
  assert.deepEqual((await one(withoutHeader)).outcome, {
    kind: 'status',
    status: 503,
    body: 'no available upstream',
  });
  assert.deepEqual((await one(otherBody)).outcome, {
    kind: 'status',
    status: 503,
    body: 'no healthy upstream',
  });
});

test('a reset before and after the first byte, a refusal, and no answer in time', async () => {
  const reset = await serve((request) => request.socket.resetAndDestroy());
  const cut = await serve((request, response) => {
    response.write('.', () => setTimeout(() => request.socket.resetAndDestroy(), 50));
  });
  const silent = await serve(() => undefined);
  assert.equal((await one(reset)).outcome.kind, 'reset');
  const ended = await one(cut);
  assert.equal(ended.outcome.kind, 'cut');
  assert.ok(ended.firstTokenMs !== undefined);
  assert.equal((await one('http://127.83.2.9:9')).outcome.kind, 'refused');
  assert.equal((await one(silent, { timeoutSeconds: 0.1 })).outcome.kind, 'timeout');
});

test('as many as allowed are in flight, what is beyond is not sent', async () => {
  let open = 0;
  const origin = await serve(() => {
    open++;
  });
  const abort = new AbortController();
  const load = runLoad({ origin, arrivals: arrivals(5), mostInFlight: 2, signal: abort.signal });
  await waitFor('two in flight', () => open === 2);
  abort.abort();
  const kinds = (await load).map(({ outcome }) => outcome.kind).sort();
  assert.deepEqual(kinds, ['aborted', 'aborted', 'overrun', 'overrun', 'overrun']);
});

test('an abort ends what is in flight and sends nothing more', async () => {
  const origin = await serve(() => undefined);
  const abort = new AbortController();
  const load = runLoad({ origin, arrivals: arrivals(2, 60_000), signal: abort.signal });
  setTimeout(() => {
    abort.abort();
  }, 50);
  assert.deepEqual(
    (await load).map(({ outcome }) => outcome.kind),
    ['aborted'],
  );
});

test('a client that leaves half way takes its request out of the engine', async () => {
  const backend = await SimulatedBackend.start({ address: '127.83.2.3' });
  stops.push(() => backend.stop());
  const arrival = { atMs: 0, promptTokens: 10, outputTokens: 60, leavesHalfWay: true };
  const result = await one(`http://${backend.id}`, { arrivals: [arrival] });
  assert.equal(result.outcome.kind, 'left');
  assert.ok(result.firstTokenMs !== undefined && result.firstTokenMs < result.endMs);
  await waitFor('the abort', () => backend.counters.aborted === 1);
  assert.ok(backend.counters.generatedTokens >= 30 && backend.counters.generatedTokens < 60);
});

test('what is refused is sent once more after retry-after, where that is asked for', async () => {
  let asked = 0;
  const origin = await serve((_request, response) => {
    asked++;
    if (asked === 2) response.end('.');
    else response.writeHead(503, { 'retry-after': '1' }).end('no available upstream');
  });
  const result = await one(origin, { retries: true });
  assert.deepEqual([result.outcome.kind, result.retried, asked], ['ok', true, 2]);
  assert.ok((result.firstTokenMs ?? 0) >= 990, `${result.firstTokenMs} ms`);
  const again = await one(origin, { retries: true });
  assert.deepEqual([again.outcome.kind, again.retried, asked], ['no_upstream', true, 4]);
  const without = await one(origin);
  assert.deepEqual([without.outcome.kind, without.retried, asked], ['no_upstream', false, 5]);
});

test('an arrival may have an origin of its own', async () => {
  const other = await serve((_request, response) => response.writeHead(418).end('other'));
  const origin = await serve((_request, response) => response.end('.'));
  const [arrival] = arrivals(1);
  const results = await runLoad({ origin, arrivals: [arrival!, { ...arrival!, origin: other }] });
  assert.deepEqual(results.map(({ outcome }) => outcome.kind).sort(), ['ok', 'status']);
});
