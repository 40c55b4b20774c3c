import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as allOf } from 'node:stream/consumers';
import { afterEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { ENGINES } from '../../../src/collect/engines/catalogue.ts';
import { lacksScorer } from '../../../src/collect/engines/engine.ts';
import { probe } from '../../../src/commands/probe.ts';
import { type ProbeFlags, probeTarget } from '../../../src/commands/probe-target.ts';
import { formatMistake, parseConfiguration } from '../../../src/config/load.ts';
import { SimulatedBackend } from '../../../src/demo/backend.ts';
import { pageOf } from '../../support/gauge-backend.ts';
import { type PageAnswer, PageServer } from '../../support/page-server.ts';
import { TestCa } from '../../support/pki.ts';
import { freePort } from '../../support/ports.ts';

const PAGE = pageOf({ queued: 3, running: 40, kv: 0.5, finished: 7 });
const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const golden = fileURLToPath(new URL('../../golden/engines', import.meta.url));

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe('a page', () => {
  test('is told with its engine, sample, cost and configuration', async () => {
    const url = await serve((path) => (path === '/metrics' ? { body: PAGE } : { status: 404 }));
    const { code, out } = await run(url);
    assert.equal(code, 0);
    for (const line of [
      /^page +\/metrics, 4\d\.\d kB in \d+\.\d ms$/m,
      /^engine +Vllm \(vLLM\); its names are checked in its source, vllm-project\/vllm /m,
      /^sample +queued 3, running 40, KV cache 50 %, finished 7, 8\.00 s each$/m,
      /^metrics +TotalQueuedRequests vllm:num_requests_waiting \(1 series\)$/m,
      /^ +KVCacheUtilization +vllm:kv_cache_usage_perc \(1 series\); not there: vllm:gpu_cache_usage_perc, /m,
      /^lean +no: the filter is refused: status 404$/m,
      /^cost +at most \d.* % of a core of the engine, once in 1 s \(response time over interval/m,
    ])
      assert.match(out, line);
    assert.deepEqual(blockIn(out), {
      MetricCollector: {
        Timeout: 1,
        Interval: 1,
        HttpMetricCollect: {
          Path: '/metrics',
          Port: Number(new URL(url).port),
          Scheme: 'http',
          Engine: 'Vllm',
        },
      },
    });
  });

  test('is told as JSON', async () => {
    const url = await serve((path) => ({ body: path === '/metrics' ? PAGE : filtered(path) }));
    const { code, out } = await run(url, { json: true });
    assert.equal(code, 0);
    const told = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual(told['sample'], {
      queued: 3,
      running: 40,
      kvUtilization: 0.5,
      finished: 7,
      latency: { sumSeconds: 56, count: 7 },
      prompts: { takenInTokens: 52_817, answeredTokens: 52_817 },
      tokens: 52_817,
    });
    const lean = told['lean'] as { bytes: number };
    assert.ok(lean.bytes > 0 && lean.bytes < 2500);
    assert.deepEqual(told['warnings'], []);
  });

  test('whose values move meanwhile is compared again, and at last told to be unclear', async () => {
    const moving = (times: number) => {
      let lean = 0;
      return serve((path) => {
        if (path === '/metrics') return { body: PAGE };
        const page = filtered(path);
        return {
          body: ++lean > times ? page : page.replace(/^(vllm:num_requests_running\{.*\}) .*$/m, '$1 41'),
        };
      });
    };
    const { out: yes } = await run(await moving(2));
    assert.match(yes, /^lean +yes: \d/m);
    const busy = await moving(Infinity);
    const { code, out } = await run(busy, { interval: 0.1 });
    assert.equal(code, 0);
    assert.match(
      out,
      /^lean +not told: its values are not those of the full page; values may have moved meanwhile, try again$/m,
    );
    const told = JSON.parse((await run(busy, { json: true })).out) as { lean: object };
    assert.deepEqual(told.lean, { unclear: 'its values are not those of the full page' });
  });

  test('that is slow and cannot be read lean is warned of', async () => {
    const url = await serve((path) => (path === '/metrics' ? { body: PAGE, afterMs: 30 } : { status: 404 }));
    const { code, out } = await run(url, { interval: 0.5 });
    assert.equal(code, 0);
    assert.match(
      out,
      /^warning +the page may cost the engine (?:[6-9]|[1-9]\d)\.?\d* % of a core .*: an upper bound, .* repeat it when they are quiet;/m,
    );
    assert.match(out, /IntervalMilliseconds: 500/);
  });

  test('that has no sample for a scorer fails the probe, and says why', async () => {
    const url = await serve(() => ({
      body: PAGE.replace(/^(vllm:kv_cache_usage_perc\{.*\}) .*$/m, '$1 NaN'),
    }));
    const { code, out } = await run(url);
    assert.equal(code, 1);
    assert.match(
      out,
      /^warning +there is no sample while KVCacheUtilization has a weight: vllm:kv_cache_usage_perc is NaN$/m,
    );
    assert.doesNotMatch(out, /MetricCollector|the page is/, 'a configuration of no use');
  });

  test('that is of another engine than the one that was named says which, and gives no configuration', async () => {
    const url = await serve((path) => (path === '/metrics' ? { body: PAGE } : { status: 404 }));
    const { code, out } = await run(url, { engine: 'SgLang' });
    assert.equal(code, 1);
    assert.match(out, /^warning +the page is Vllm's: --engine Vllm$/m);
    assert.match(out, /^warning +there is no sample while TotalQueuedRequests has a weight: /m);
    assert.doesNotMatch(out, /MetricCollector/);
    const told = JSON.parse((await run(url, { engine: 'SgLang', json: true })).out) as {
      readonly warnings: readonly string[];
    };
    assert.equal(told.warnings[0], "the page is Vllm's: --engine Vllm");
    assert.ok(!('MetricCollector' in told));
    const right = await run(url, { engine: 'Vllm' });
    assert.deepEqual([right.code, right.out.includes("the page is Vllm's")], [0, false]);
  });

  test('of an engine that sleeps is told so', async () => {
    const url = await serve(() => ({ body: readFileSync(join(golden, 'vllm-0.32-asleep.prom'), 'utf8') }));
    const { code, out } = await run(url);
    assert.equal(code, 0);
    assert.match(out, /^warning +the engine sleeps/m);
  });

  for (const file of readdirSync(golden).filter((name) => name.endsWith('.prom'))) {
    test(`${file} is found without a path, and gives a configuration that is valid`, async () => {
      const body = readFileSync(join(golden, file), 'utf8');
      const plain = await run(await serve(() => ({ body })), { json: true });
      const { engine } = JSON.parse(plain.out) as { engine: { name: string } };
      const known = ENGINES.find(({ name }) => name === engine.name)!;
      const url = await serve((path) => (path === known.path ? { body } : { status: 404 }));
      const { out } = await run(url);
      assert.match(out, new RegExp(`^engine +${known.name}\\b`, 'm'));
      const scorers = (['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'] as const)
        .filter((name) => !lacksScorer(known, name))
        .map((Name) => ({ Name, Weight: 1 }));
      const loaded = parseConfiguration(JSON.stringify(fileWith(blockIn(out), scorers)), 'file');
      assert.deepEqual(loaded.kind === 'invalid' ? loaded.mistakes.map(formatMistake) : [], []);
    });
  }
});

test('the README shows what a probe of a backend of the demo prints', async () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, shown] = /^## Trying one backend\n[^]*?```text\n([^]*?)```/m.exec(readme) ?? [];
  const backend = await SimulatedBackend.start({ address: '127.0.0.1' });
  cleanups.push(() => backend.stop());
  const { code, out } = await run(`http://${backend.id}`);
  assert.equal(code, 0);
  const withoutNumbers = (text = ''): string => text.replaceAll(/\d+(?:\.\d+)?/g, 'N');
  assert.equal(withoutNumbers(shown), withoutNumbers(out));
});

describe('no page', () => {
  const cases: readonly {
    readonly title: string;
    readonly answer: (path: string, request: IncomingMessage) => PageAnswer;
    readonly path?: string;
    readonly err: RegExp;
  }[] = [
    {
      title: '404 everywhere',
      answer: () => ({ status: 404 }),
      err: /\/metrics: status 404\n {2}\/prometheus\/metrics: status 404\n(?:.*\n)*Engines have their pages at /,
    },
    {
      title: '401',
      answer: () => ({ status: 401 }),
      path: '/metrics',
      err: /status 401\nIt asks for credentials: --header/,
    },
    {
      title: 'a redirect',
      answer: () => ({ status: 307, head: { location: '/metrics/' } }),
      path: '/metrics',
      err: /status 307.*\nRedirects are not followed: try the path with a slash/,
    },
    {
      title: 'HTML',
      answer: () => ({ head: { 'content-type': 'text/html' }, body: '<html>' }),
      path: '/',
      err: /not metrics: text\/html\n(?:.*\n)*That is another page/,
    },
    {
      title: "TensorRT-LLM's JSON",
      answer: () => ({ head: { 'content-type': 'application/json' }, body: '[{"gpuMemUsage": 1}]' }),
      path: '/metrics',
      err: /TensorRT-LLM has JSON at \/metrics and its metrics at \/prometheus\/metrics/,
    },
    {
      title: 'metrics of no engine',
      answer: () => ({ body: 'up 1\n' }),
      path: '/metrics',
      err: /metric absent.*\n--engine names the engine/,
    },
    {
      title: 'silence',
      answer: () => ({ afterMs: 1500 }),
      path: '/metrics',
      err: /timeout after 1 s: no answer\n--timeout waits longer/,
    },
  ];
  for (const { title, answer, path = '', err } of cases) {
    test(`but ${title} is told with what to do`, async () => {
      const told = await run(`${await serve(answer)}${path}`);
      assert.equal(told.code, 1);
      assert.match(told.err, err);
      assert.equal(told.out, '');
    });
  }

  test('as nothing listens', async () => {
    const told = await run(`127.0.0.1:${await freePort()}`, { json: true });
    assert.equal(told.code, 1);
    const { failures } = JSON.parse(told.out) as { failures: { kind: string; path: string }[] };
    assert.deepEqual(
      failures.map(({ kind, path }) => `${kind} ${path}`),
      ['refused /metrics'],
    );
  });

  test('over TLS from a server without', async () => {
    const url = await serve(() => ({ body: PAGE }));
    const told = await run(url.replace('http:', 'https:'), { insecure: true });
    assert.equal(told.code, 1);
    assert.match(told.err, /TLS: .*\n.*A server without TLS has a URL that begins with http;/);
  });
});

test('a page over TLS needs its authority, or no check; headers and tokens are sent and not shown', async () => {
  const ca = await TestCa.create();
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-probe-'));
  cleanups.push(() => {
    rmSync(folder, { recursive: true });
  });
  const [caFile, token] = [join(folder, 'ca.crt'), join(folder, 'token')];
  writeFileSync(caFile, ca.cert);
  writeFileSync(token, 'a-token\n');
  const seen: (string | undefined)[] = [];
  const url = await serve(
    (_, request) => {
      seen.push(request.headers.authorization, String(request.headers['x-key']));
      return { body: PAGE };
    },
    await ca.issue({ ip: ['127.0.0.1'] }),
  );
  const refused = await run(`${url}/metrics`);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /--ca names the authority of its certificate/);
  assert.equal((await run(`${url}/metrics`, { insecure: true })).code, 0);
  seen.length = 0;
  const { code, out } = await run(`${url}/metrics`, {
    ca: caFile,
    bearerTokenFile: token,
    header: ['x-key: s3cret'],
  });
  assert.equal(code, 0);
  assert.deepEqual(seen.slice(0, 2), ['Bearer a-token', 's3cret']);
  assert.doesNotMatch(out, /s3cret|a-token/);
  assert.match(out, /Values of headers are not shown/);
  const ofFile = await run(`${url}/metrics`, { ca: caFile, header: [`x-key: @${token}`] });
  assert.doesNotMatch(ofFile.out, /not shown|a-token/);
});

test('the command takes its options', async () => {
  const seen: (string | undefined)[] = [];
  const url = await serve((_, request) => {
    seen.push(`${String(request.headers['x-a'])} ${String(request.headers['x-b'])}`);
    return { body: PAGE };
  });
  const args = ['--header', 'x-a: 1', '--header', 'x-b: 2', '--interval', '0.5', '--timeout', '2', '--json'];
  const child = spawn(process.execPath, ['--import', 'tsx', main, 'probe', url, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [out, [code]] = await Promise.all([allOf(child.stdout), once(child, 'close') as Promise<[number]>]);
  assert.equal(code, 0);
  assert.equal(seen[0], '1 2');
  const { MetricCollector: told } = JSON.parse(out) as { MetricCollector: Record<string, unknown> };
  assert.deepEqual([told['Timeout'], told['IntervalMilliseconds']], [2, 500]);
});

test('what a URL leaves out is as with the engine', async () => {
  const targets: readonly (readonly [url: string, engine: string])[] = [
    ['127.0.0.1', 'Auto'],
    ['127.0.0.1', 'Triton'],
    ['http://127.0.0.1:80/', 'Triton'],
    ['[::1]', 'MindIe'],
    ['https://[::1]:1/m?x=1', 'MindIe'],
    ['localhost:8000', 'TrtLlm'],
  ];
  const seen = await Promise.all(
    targets.map(async ([url, engine]) => {
      const flags = { url, engine, interval: 1, timeout: 1, header: [], insecure: false };
      const { backend, paths, block } = await probeTarget(flags);
      const { Scheme: scheme, Host: host } = block.HttpMetricCollect;
      return `${scheme} ${backend.id.replace('[::1]:8000', '127.0.0.1:8000')} ${paths.join(' ')} ${host}`;
    }),
  );
  assert.deepEqual(seen, [
    'http 127.0.0.1:80 /metrics /prometheus/metrics /v1/metrics undefined',
    'http 127.0.0.1:8002 /metrics undefined',
    'http 127.0.0.1:80 /metrics undefined',
    'https [::1]:1027 /metrics undefined',
    'https [::1]:1 /m?x=1 undefined',
    'http 127.0.0.1:8000 /prometheus/metrics undefined',
  ]);
});

describe('a command line', () => {
  const cases: readonly (readonly [string, Partial<ProbeFlags>, RegExp])[] = [
    ['ftp://127.0.0.1', {}, /^URL must be like http:\/\/10\.0\.3\.11:8000 .*, is ftp:\/\/127\.0\.0\.1$/],
    ['http://me:secret@127.0.0.1', {}, /^URL must not hold a user or password/],
    ['me:secret@127.0.0.1', {}, /^URL must not hold a user or password/],
    ['http://me:secret@127.0.0.1:99999', {}, /^URL must be like .*, is something else \(not shown/],
    ['ftp://me:secret@127.0.0.1', {}, /^URL must be like .*, is something else \(not shown/],
    ['http://me:se/cret@127.0.0.1', {}, /^URL must be like .*, is something else \(not shown/],
    [
      'http://0.0.0.0',
      {},
      /^cannot be collected like this: Address: is "0\.0\.0\.0", but must be an IP literal/,
    ],
    ['http://127.0.0.1', { header: ['no'] }, /^--header must be like/],
    [
      'http://127.0.0.1',
      { interval: 1.5 },
      /^--interval must be an integer 1\.\.50 or a number 0\.1\.\.0\.999, is 1\.5$/,
    ],
    ['http://127.0.0.1', { interval: 0 }, /^--interval must be .*, is 0$/],
    ['http://127.0.0.1', { interval: 51 }, /^--interval must be .*, is 51$/],
    ['http://127.0.0.1', { timeout: 0 }, /^--timeout must be an integer 1\.\.300, is 0$/],
    ['http://127.0.0.1', { insecure: true }, /^--insecure is for TLS: the URL must begin with https$/],
    ['http://127.0.0.1', { ca: 'absent' }, /^--ca is for TLS: the URL must begin with https$/],
    ['https://127.0.0.1', { cert: 'absent' }, /^--cert needs --key beside it$/],
    ['https://127.0.0.1', { ca: 'absent' }, /^--ca absent: cannot be read: /],
    ['https://127.0.0.1', { cert: 'absent', key: 'absent' }, /^--cert absent: cannot be read: /],
    ['http://127.0.0.1', { bearerTokenFile: 'absent' }, /^--bearer-token-file absent: cannot be read: /],
    ['http://127.0.0.1', { header: ['X: @absent'] }, /^--header X: file absent: cannot be read: /],
  ];
  for (const [url, flags, message] of cases) {
    test(`with ${url} and ${JSON.stringify(flags)} is refused`, async () => {
      const { code, out, err } = await run(url, flags);
      assert.deepEqual([code, out], [64, '']);
      assert.match(err, /^plimsoll probe: .*\n$/);
      assert.match(err.slice('plimsoll probe: '.length, -1), message);
      assert.doesNotMatch(err, /secret|cret@/);
    });
  }

  test('with an unknown engine is refused', async () => {
    const { code, err } = await run('http://127.0.0.1', { engine: 'Vlm' });
    assert.equal(code, 64);
    assert.match(err, /--engine must be one of Auto, Vllm, .*, is Vlm/);
  });
});

/** What the command prints. */
async function run(url: string, flags: Partial<ProbeFlags> & { readonly json?: boolean } = {}) {
  let out = '';
  let err = '';
  const all = {
    engine: 'Auto',
    interval: 1,
    timeout: 1,
    header: [],
    insecure: false,
    json: false,
    ...flags,
    url,
  };
  const code = await probe(all, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

async function serve(...args: Parameters<typeof PageServer.start>): Promise<string> {
  const server = await PageServer.start(...args);
  cleanups.push(() => server.stop());
  return `${args[1] === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}`;
}

/** The lines of the page with the names that are asked for. */
function filtered(path: string): string {
  const names = new URLSearchParams(path.slice(path.indexOf('?'))).getAll('name[]');
  const lines = PAGE.split('\n').filter((line) => names.includes(line.replace(/\{.*/, '')));
  return `${lines.join('\n')}\n`;
}

function blockIn(out: string): { MetricCollector: unknown } {
  return parse(out.slice(out.indexOf('# Into'))) as { MetricCollector: unknown };
}

function fileWith(block: object, scorers: readonly object[]): object {
  const config = { ...block, Scheduler: { Scorers: scorers } };
  return {
    ServerGroups: [{ Name: 'g', ServiceExtension: 'e', Servers: [{ Address: '10.0.0.1', Port: 8000 }] }],
    ServiceExtensions: [{ Name: 'e', Components: [{ Type: 'LoadAwareRouting', Config: config }] }],
  };
}
