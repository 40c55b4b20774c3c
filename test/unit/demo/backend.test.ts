import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { request } from 'undici';
import { type BackendOptions, SimulatedBackend, startBackends } from '../../../src/demo/backend.ts';
import { DEFAULT_ENGINE } from '../../../src/demo/engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const stops: (() => Promise<void>)[] = [];

async function start(options: Partial<BackendOptions> = {}): Promise<SimulatedBackend> {
  const backend = await SimulatedBackend.start({ address: '127.83.1.1', ...options });
  stops.push(() => backend.stop());
  return backend;
}

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

interface Answer {
  readonly status: number;
  readonly backend: unknown;
  readonly body: string;
}

async function ask(
  backend: SimulatedBackend,
  path: string,
  options: { headers?: Record<string, string>; body?: string; signal?: AbortSignal } = {},
): Promise<Answer> {
  const { statusCode, headers, body } = await request(`http://${backend.id}${path}`, {
    method: path.startsWith('/v1') ? 'POST' : 'GET',
    ...options,
  });
  return { status: statusCode, backend: headers['x-backend'], body: await body.text() };
}

function complete(backend: SimulatedBackend, prompt: number, output: number, signal?: AbortSignal) {
  const headers = { 'x-prompt-tokens': String(prompt), 'x-output-tokens': String(output) };
  return ask(backend, '/v1/completions', { headers, ...(signal === undefined ? {} : { signal }) });
}

function tokensOf({ body }: Answer): number {
  return body.split('\n\n').filter((line) => line.includes('"text"')).length;
}

describe('completions', () => {
  test('lengths come from headers', async () => {
    const backend = await start();
    const answer = await complete(backend, 50, 7);
    assert.deepEqual([answer.status, answer.backend, tokensOf(answer)], [200, backend.id, 7]);
    assert.ok(answer.body.endsWith('data: [DONE]\n\n'));
    const { promptTokens, generatedTokens, finished } = backend.counters;
    assert.deepEqual([promptTokens, generatedTokens, finished, backend.accepted], [50, 7, 1, 1]);
  });

  test('or from the JSON body', async () => {
    const backend = await start();
    const body = JSON.stringify({ prompt: 'a'.repeat(400), max_tokens: 3 });
    const answer = await ask(backend, '/v1/completions', { body });
    assert.deepEqual([answer.status, tokensOf(answer)], [200, 3]);
    assert.equal(backend.counters.promptTokens, 100);
  });

  const refused: readonly (readonly [string, Record<string, string>, string])[] = [
    ['no JSON', {}, 'prompt=hello'],
    ['a JSON text', {}, '"hello"'],
    ['no length', { 'x-prompt-tokens': '0', 'x-output-tokens': '5' }, ''],
    ['longer than the KV cache', { 'x-prompt-tokens': '99999', 'x-output-tokens': '5' }, ''],
    ['a body of more than 1 MiB', {}, 'a'.repeat(1024 * 1024 + 1)],
  ];
  for (const [name, headers, body] of refused) {
    test(`${name}: 400`, async () => {
      const backend = await start();
      const answer = await ask(backend, '/v1/completions', { headers, body });
      assert.equal(answer.status, 400);
      assert.match(answer.body, /"message"/);
      assert.equal(backend.inside, 0);
    });
  }

  test('the first byte comes with the first token, the rest with the last', async () => {
    const backend = await start();
    const { body } = await request(`http://${backend.id}/v1/completions`, {
      method: 'POST',
      headers: { 'x-prompt-tokens': '10', 'x-output-tokens': '10000' },
    });
    const reader = body[Symbol.asyncIterator]();
    const first: unknown = (await reader.next()).value;
    assert.equal(String(first), 'data: {"choices":[{"text":" sea"}]}\n\n');
    assert.equal(backend.inside, 1);
    body.destroy();
    await waitFor('the request to leave', () => backend.inside === 0);
  });

  test('a client that goes away takes its request out, and the gauges stay as they were', async () => {
    const backend = await start({ engine: { ...DEFAULT_ENGINE, slots: 1 } });
    const [first, second] = [new AbortController(), new AbortController()];
    const running = complete(backend, 10, 10_000, first.signal);
    await waitFor('one running', () => backend.gauges.running === 1);
    const waiting = complete(backend, 10, 10_000, second.signal);
    await waitFor('one waiting', () => backend.gauges.waiting === 1);
    second.abort();
    await assert.rejects(waiting);
    await waitFor('the next step, without it', () => backend.gauges.waiting === 0);
    assert.deepEqual([backend.gauges.running, backend.counters.aborted, backend.inside], [1, 1, 1]);
    first.abort();
    await assert.rejects(running);
    await waitFor('both aborted', () => backend.counters.aborted === 2);
    // no step comes any more that would tell of it
    assert.deepEqual([backend.gauges.running, backend.gauges.waiting, backend.inside], [1, 0, 0]);
  });

  test('abortAll resets every request', async () => {
    const backend = await start();
    const answers = [1, 2, 3].map(() => complete(backend, 10, 10_000));
    await waitFor('three inside', () => backend.inside === 3);
    backend.abortAll();
    await Promise.all(answers.map((answer) => assert.rejects(answer)));
    await waitFor('none inside', () => backend.inside === 0);
  });
});

describe('metrics', () => {
  let backend: SimulatedBackend;
  beforeEach(async () => {
    backend = await start();
  });
  const finishedOn = (page: string): string | undefined =>
    /^vllm:request_success_total\{.*finished_reason="length"\} (.*)$/m.exec(page)?.[1];

  test('has only the series that are asked for, where the path ends in a slash', async () => {
    const query = '?name%5B%5D=vllm:num_requests_waiting&name%5B%5D=vllm:request_success_total';
    const { status, body } = await ask(backend, `/metrics/${query}`);
    assert.equal(status, 200);
    const names = body.split('\n').map((line) => line.replace(/[{ ].*/, ''));
    assert.deepEqual(names, [
      '#',
      '#',
      'vllm:num_requests_waiting',
      '#',
      '#',
      ...Array.from({ length: 4 }, () => 'vllm:request_success_total'),
      '',
    ]);
    const whole = (await ask(backend, '/metrics')).body.length;
    assert.equal((await ask(backend, `/metrics${query}`)).body.length, whole);
    assert.equal((await ask(backend, '/metrics/')).body.length, whole);
  });

  test('live', async () => {
    await complete(backend, 10, 2);
    const answer = await ask(backend, '/metrics');
    assert.deepEqual([answer.status, finishedOn(answer.body)], [200, '1.0']);
  });

  test('frozen', async () => {
    backend.metrics = { kind: 'frozen' };
    await complete(backend, 10, 2);
    assert.equal(finishedOn((await ask(backend, '/metrics')).body), '0.0');
    backend.metrics = { kind: 'live' };
    assert.equal(finishedOn((await ask(backend, '/metrics')).body), '1.0');
  });

  test('a status', async () => {
    backend.metrics = { kind: 'status', status: 500 };
    assert.equal((await ask(backend, '/metrics')).status, 500);
  });

  test('a web page', async () => {
    backend.metrics = { kind: 'html' };
    const { status, body } = await ask(backend, '/metrics');
    assert.equal(status, 200);
    assert.match(body, /^<!doctype html>/);
  });

  test('no answer', async () => {
    backend.metrics = { kind: 'hang' };
    const asked = ask(backend, '/metrics', { signal: AbortSignal.timeout(100) });
    await assert.rejects(asked, { name: 'TimeoutError' });
    assert.equal((await complete(backend, 10, 2)).status, 200);
  });

  test('an answer of the test’s own', async () => {
    backend.metrics = { kind: 'custom', answer: (_request, response) => response.end('mine') };
    assert.equal((await ask(backend, '/metrics')).body, 'mine');
  });
});

describe('reports', () => {
  const gaugeOn = (page: string, name: string): string | undefined =>
    new RegExp(`^vllm:${name}\\{[^}]*\\} (.*)$`, 'm').exec(page)?.[1];

  test('a lean page', async () => {
    const backend = await start({ page: 'lean' });
    await complete(backend, 10, 2);
    const { body } = await ask(backend, '/metrics');
    assert.equal(gaugeOn(body, 'request_success_total'), '1.0');
    assert.ok(body.length < 1200, `${body.length} bytes`);
  });

  test('may be old', async () => {
    const clock = new FakeClock();
    const backend = await start({ page: 'lean', loadReports: true, reportAgeMs: 3000, clock });
    const answer = complete(backend, 10, 2);
    await waitFor('the request inside', () => backend.inside === 1);
    await clock.advance(1000);
    assert.match((await answer).body, /DONE/);
    const finished = async () => gaugeOn((await ask(backend, '/metrics')).body, 'request_success_total');
    await clock.advance(1900);
    assert.equal(await finished(), '0.0');
    await clock.advance(1100);
    assert.equal(await finished(), '1.0');
  });

  test('in a header of every answer', async () => {
    const backend = await start({ loadReports: true });
    const { headers, body } = await request(`http://${backend.id}/health`);
    await body.dump();
    assert.equal(
      headers['endpoint-load-metrics'],
      'TEXT application_utilization:0.0000,rps_fractional:0.0000,eps:0.0000',
    );
  });

  test('a share of the fetches fails', async () => {
    const backend = await start({ page: 'lean', failingFetches: { share: 0.3, seed: 1 } });
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async () => (await ask(backend, '/metrics')).status),
    );
    const failed = statuses.filter((status) => status === 500).length;
    assert.ok(failed > 40 && failed < 80, `${failed} of 200`);
    assert.equal(statuses.filter((status) => status === 200).length, 200 - failed);
  });
});

test('a failing backend resets what is inside, answers 500 at once and looks idle, until it is well again', async () => {
  const backend = await start({ page: 'lean', loadReports: true });
  const inside = complete(backend, 10, 10_000);
  await waitFor('the request to run', () => backend.gauges.running === 1);
  backend.failing = true;
  await assert.rejects(inside);
  assert.equal((await complete(backend, 10, 10)).status, 500);
  assert.match((await ask(backend, '/metrics')).body, /num_requests_running\{.*\} 0\.0/);
  backend.failing = false;
  assert.equal((await complete(backend, 10, 10)).status, 200);
});

test('answers have the headers that are asked for, of each request its own', async () => {
  const backend = await start({ answerHeaders: ({ headers }) => ({ 'x-of': String(headers['x-number']) }) });
  const of = async (number: string, path: string, method: 'GET' | 'POST') => {
    const lengths = { 'x-prompt-tokens': '5', 'x-output-tokens': '2' };
    const headers = { ...lengths, 'x-number': number };
    const answer = await request(`http://${backend.id}${path}`, { method, headers });
    await answer.body.dump();
    return answer.headers['x-of'];
  };
  assert.deepEqual(
    [
      await of('1', '/v1/completions', 'POST'),
      await of('2', '/v1/completions', 'POST'),
      await of('3', '/no', 'GET'),
    ],
    ['1', '2', '3'],
  );
});

test('a client can be told of a token', async () => {
  const backend = await start();
  const headers = { 'x-prompt-tokens': '10', 'x-output-tokens': '6', 'x-tell-at-token': '3' };
  const answer = await ask(backend, '/v1/completions', { headers });
  assert.match(answer.body, /^data: [^\n]*\n\n: reached\n\ndata: /);
  assert.equal(tokensOf(answer), 6);
});

test('a closed port refuses, and opens again as the same', async () => {
  const backend = await start();
  await backend.closePort();
  await assert.rejects(ask(backend, '/health'), { code: 'ECONNREFUSED' });
  await backend.openPort();
  assert.equal((await ask(backend, '/health')).status, 200);
});

test('half speed takes twice as long', async () => {
  const backend = await start({ slowness: 2 });
  await complete(backend, 1, 1);
  const page = (await ask(backend, '/metrics')).body;
  const sum = Number(/^vllm:e2e_request_latency_seconds_sum\{.*\} (.*)$/m.exec(page)?.[1]);
  const { stepMs, prefillTokenMs, residentTokenMs } = DEFAULT_ENGINE;
  assert.ok(Math.abs(sum * 1000 - 2 * (stepMs + prefillTokenMs + residentTokenMs)) < 1e-6, `${sum} s`);
});

test('IPv6', async () => {
  const backend = await start({ address: '::1' });
  assert.equal(backend.id, `[::1]:${backend.port}`);
  assert.equal((await ask(backend, '/health')).status, 200);
});

test('a path that is not there', async () => {
  const backend = await start();
  assert.equal((await ask(backend, '/v1/models')).status, 404);
});

test('many backends have an address each', async () => {
  const backends = await startBackends(3, (index) => ({ slowness: index + 1 }));
  stops.push(...backends.map((backend) => () => backend.stop()));
  assert.deepEqual(
    backends.map(({ address, slowness }) => [address, slowness]),
    [
      ['127.83.0.1', 1],
      ['127.83.0.2', 2],
      ['127.83.0.3', 3],
    ],
  );
});

test('of many backends none is left when one cannot listen', async () => {
  const [first, taken, last] = ['127.83.0.1', '127.83.0.2', '127.83.0.3'] as const;
  const { port } = await start({ address: taken });
  await assert.rejects(
    startBackends(3, () => ({ port })),
    { message: /^backend 127\.83\.0\.2:.* EADDRINUSE/ },
  );
  for (const address of [first, last]) assert.equal((await start({ address, port })).port, port);
});

test('an address that is not ours is an error that names it', async () => {
  await assert.rejects(start({ address: '192.0.2.1' }), {
    name: 'PlimsollError',
    code: 'io',
    message: /^backend 192\.0\.2\.1:0: cannot listen: /,
  });
});
