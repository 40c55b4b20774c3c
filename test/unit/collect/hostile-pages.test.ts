import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { SERIES_MAX } from '../../../src/collect/exposition.ts';
import { SampleReader, type SampleReading } from '../../../src/collect/sample.ts';
import { SamplePlan } from '../../../src/collect/sample-plan.ts';
import { PAGE_BYTES_MAX } from '../../../src/core/limits.ts';
import type { ScorerName } from '../../../src/core/model/balance-settings.ts';
import type { CollectFailure, Sample } from '../../../src/core/model/collection.ts';

const SCORERS: readonly ScorerName[] = ['TotalQueuedRequests', 'KVCacheUtilization', 'RunningRequests'];
const FOLDER = new URL('../../golden/engines/', import.meta.url);
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.prom'));
const PAGES = NAMES.map((name) => readFileSync(new URL(name, FOLDER), 'utf8'));
const VLLM = readFileSync(new URL('vllm-0.32.prom', FOLDER), 'utf8');
const WAITING = 'vllm:num_requests_waiting';

function read(page: string | Uint8Array): SampleReading {
  const plan = new SamplePlan({ engine: 'Auto', metrics: { labels: {} } }, SCORERS);
  return new SampleReader(plan).read(typeof page === 'string' ? Buffer.from(page) : page);
}

/** Without the series. */
function plain(reading: SampleReading): object {
  return reading.kind === 'failure' ? reading : { ...reading, families: undefined };
}

function failureOf(page: string | Uint8Array): CollectFailure {
  const reading = read(page);
  return reading.kind === 'failure' ? reading.failure : assert.fail(reading.kind);
}

/** Changes every series of a page. */
function mapSeries(page: string, change: (line: string) => string): string {
  return page.replaceAll(/^[^#\n].*$/gm, change);
}

describe('a page says the same', () => {
  const dresses: Readonly<Record<string, (page: string) => string | Uint8Array>> = {
    'with CRLF': (page) => page.replaceAll('\n', '\r\n'),
    'with tabs, and blanks wherever they may be': (page) =>
      mapSeries(page, (line) => line.replace(/^([^{ ]+)(\{.*\})? (\S+)$/, '\t$1 \t$2\t $3 \t')),
    'with timestamps': (page) => mapSeries(page, (line) => `${line} 1764529445123`),
    'without a last newline': (page) => page.trimEnd(),
    'with empty lines': (page) => `\n\n${page.replaceAll('\n', '\n\n')}`,
    'with a byte order mark': (page) => `\ufeff${page}`,
    'with nothing but series': (page) => page.replaceAll(/^#.*\n/gm, ''),
    'in OpenMetrics': (page) =>
      `${mapSeries(page, (line) => `${line} 1764529445.123 # {trace_id="3f{\\"}a"} 0.5 1764529444.9`).replaceAll(/^# TYPE (.*)$/gm, '# TYPE $1\n# UNIT x requests')}# EOF\n`,
    'with labels that have escapes': (page) => page.replaceAll('example/', 'ex \\\\ \\" \\n } 9 ,/'),
    'as a JSON string': (page) => JSON.stringify(page),
    'as a JSON string with escapes for all that is not ASCII': (page) =>
      `${JSON.stringify(`# é\n${page}`).replaceAll('é', '\\u00e9')}\n`,
    'with each series twice': (page) => mapSeries(page, (line) => `${line}\n${line}`),
    'with strange numbers': (page) => mapSeries(page, (line) => line.replace(/ (\d+)\.0$/, ' +$10e-1')),
    'in a view of other bytes': (page) => {
      const around = Buffer.from(`\n${WAITING} 99\n`.repeat(20));
      const whole = Buffer.concat([around, Buffer.from(page), around]);
      return new Uint8Array(whole.buffer, whole.byteOffset + around.length, Buffer.byteLength(page));
    },
  };
  for (const [name, dress] of Object.entries(dresses)) {
    test(name, () => {
      for (const page of PAGES) assert.deepEqual(plain(read(dress(page))), plain(read(page)));
    });
  }
});

describe('a page is refused', () => {
  const twice = VLLM.replace(
    /^(vllm:num_requests_waiting\{.*\}) .*$/m,
    (line, series: string) => `${line}\n${series} 5.0`,
  );
  const endless = VLLM.replace(/^(vllm:num_requests_waiting\{.*\}) .*$/m, `$1 ${'9'.repeat(400)}`);
  const cases: Readonly<Record<string, readonly [string | Uint8Array, string, RegExp]>> = {
    'that is compressed': [gzipSync(VLLM), 'protocol', /^gzip, where identity was asked for$/],
    'that is JSON': [
      '{"vllm:num_requests_waiting": 3}',
      'not_metrics',
      /^not metrics: a page that begins with/,
    ],
    'that is half a JSON string': [JSON.stringify(VLLM).slice(0, -20), 'not_metrics', /^not metrics: /],
    'that is UTF-16': [Buffer.from(`\ufeff${VLLM}`, 'utf16le'), 'not_metrics', /^not metrics: /],
    'with a series that is there twice with different values': [
      twice,
      'not_a_number',
      /^vllm:num_requests_waiting is there twice with the same labels$/,
    ],
    'with a value of 400 digits': [endless, 'not_a_number', /^vllm:num_requests_waiting is 9{64}$/],
    'with far too many series': [
      `${WAITING} 1\n`.repeat(300_000).slice(0, PAGE_BYTES_MAX),
      'too_large',
      /^too large: more than 10000 series/,
    ],
    'with a million series that nobody wants': [
      `${VLLM}${'a 1\n'.repeat(1_000_000)}`,
      'too_large',
      /^too large: .* or 200000 lines$/,
    ],
    'with too many series of different labels': [
      Array.from({ length: SERIES_MAX + 1 }, (_, rank) => `${WAITING}{engine="${rank}"} 1\n`).join(''),
      'too_large',
      /^too large: more than 10000 series/,
    ],
    'that is cut off in a series': [
      VLLM.slice(0, VLLM.indexOf('\n', VLLM.indexOf(`${WAITING}{`)) - 4),
      'not_a_number',
      /^vllm:num_requests_waiting is without a value$|^vllm:num_requests_waiting is /,
    ],
  };
  for (const [name, [page, kind, message]] of Object.entries(cases)) {
    test(name, () => {
      const failure = failureOf(page);
      assert.equal(failure.kind, kind);
      assert.match(failure.message, message);
    });
  }
});

test('many series of an engine of many ranks are read: one for each', () => {
  const gauges = Array.from({ length: 1000 }, (_, rank) => {
    const labels = `{engine="${rank}"}`;
    return `${WAITING}${labels} 1\nvllm:num_requests_running${labels} 2\nvllm:kv_cache_usage_perc${labels} 0.5\n`;
  });
  const reading = read(gauges.join(''));
  assert.deepEqual(reading.kind === 'sample' && reading.sample, {
    queued: 1000,
    running: 2000,
    kvUtilization: 0.5,
    finished: undefined,
    latency: undefined,
  });
});

describe('the largest page is read in moments, whatever it is made of', () => {
  const parts = [
    ' ',
    '\n',
    'a\n',
    '"',
    '{',
    '7',
    `${WAITING} `,
    `${WAITING}{a="`,
    `${WAITING}{a="\\`,
    `${WAITING}{a="b",`,
    `\n${WAITING}{a="b`,
    `\n${WAITING}_`,
  ];
  for (const part of parts) {
    test(JSON.stringify(part), () => {
      for (const begin of ['', `${WAITING}{`, '"']) {
        const page = Buffer.alloc(PAGE_BYTES_MAX, part);
        page.write(begin);
        const begun = process.cpuUsage();
        assert.equal(read(page).kind, 'failure');
        const { user, system } = process.cpuUsage(begun);
        assert.ok(user + system < 1_000_000, `${user + system} µs`);
      }
    });
  }
});

// ---------------------------------------------------------------- pages that were tampered with

function assertSane(reading: SampleReading): void {
  if (reading.kind === 'failure') {
    assert.ok(reading.failure.message.length < 1000);
    return;
  }
  if (reading.kind === 'asleep') return;
  const { queued, running, kvUtilization, finished, latency }: Sample = reading.sample;
  for (const value of [queued, running, kvUtilization, finished, latency?.sumSeconds, latency?.count]) {
    assert.ok(value === undefined || (Number.isFinite(value) && value >= 0), String(value));
  }
  assert.ok((kvUtilization ?? 0) <= 1);
}

const edit = fc.record({
  at: fc.nat(10_000),
  removed: fc.nat(40),
  inserted: fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc
      .constantFrom('\n', '"', '\\', '{', '}', ',', 'NaN', '-1', '1e400', '# {', '\r\n', `${WAITING} 7\n`)
      .map((text) => Buffer.from(text)),
  ),
});
const tampered = fc
  .tuple(fc.constantFrom(...PAGES), fc.array(edit, { minLength: 1, maxLength: 12 }), fc.nat(10_000))
  .map(([page, edits, cut]) => {
    let bytes = Buffer.from(page);
    for (const { at, removed, inserted } of edits) {
      const from = at % (bytes.length + 1);
      bytes = Buffer.concat([bytes.subarray(0, from), inserted, bytes.subarray(from + removed)]);
    }
    return cut % 4 === 0 ? bytes.subarray(0, cut % (bytes.length + 1)) : bytes;
  });

test('a page that was tampered with never throws, and never gives a number that is none', () => {
  fc.assert(
    fc.property(tampered, (page) => assertSane(read(page))),
    { seed: 20260201, numRuns: 1500 },
  );
});

test('nothing is read beyond the page', () => {
  const around = Buffer.from(`"} 5\n${WAITING}{a="b"} 99\nvllm:num_requests_running 99\n`);
  fc.assert(
    fc.property(tampered, (page) => {
      const whole = Buffer.concat([around, page, around]);
      const view = whole.subarray(around.length, around.length + page.length);
      assert.deepEqual(plain(read(view)), plain(read(page)));
    }),
    { seed: 20260202, numRuns: 500 },
  );
});

test('a reader that has seen any pages reads the next one as a new one does', () => {
  fc.assert(
    fc.property(fc.array(tampered, { maxLength: 4 }), fc.constantFrom(...PAGES), (before, page) => {
      const plan = new SamplePlan({ engine: 'Auto', metrics: { labels: {} } }, SCORERS);
      const reader = new SampleReader(plan);
      for (const earlier of before) reader.read(earlier);
      const reading = reader.read(Buffer.from(page));
      const fresh = read(page);
      // a page may fit the engine of before as well: one that passes on the metrics of another, or counts to 100
      if (reading.kind === 'failure' || fresh.kind === 'failure') assert.deepEqual(reading.kind, fresh.kind);
      else if (reading.engine === fresh.engine && reading.engine !== 'MindIe') {
        assert.deepEqual(plain(reading), plain(fresh));
      }
    }),
    { seed: 20260203, numRuns: 300 },
  );
});
