import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  LINES_MAX,
  looksLikeExposition,
  parseExposition,
  SERIES_MAX,
} from '../../../src/collect/exposition.ts';
import { LineFinder } from '../../../src/collect/line-finder.ts';

const WAITING = 'vllm:num_requests_waiting';
const NAMES = [WAITING, 'vllm:num_requests_running', 'up', 'vllm:request_success_total'];
const finder = new LineFinder(NAMES);

interface Plain {
  readonly name: string;
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** What the parser reads, by name and in order, as plain values. */
function parse(page: string | Buffer): readonly Plain[] {
  const families = parseExposition(Buffer.from(page), finder) ?? assert.fail('too many series');
  return [...families].flatMap(([name, series]) =>
    series.map(({ value, labels }) => ({ name, value, labels: Object.fromEntries(labels) })),
  );
}

function values(page: string): readonly number[] {
  return parse(page).map((series) => series.value);
}

describe('a line', () => {
  const good: readonly (readonly [string, number])[] = [
    [`${WAITING} 3`, 3],
    [`${WAITING} 3.0\n`, 3],
    [`${WAITING}\t12.5\t\n`, 12.5],
    [`  \t${WAITING}   7   \n`, 7],
    [`${WAITING} 3 1700000000000\n`, 3],
    [`${WAITING} 3 -5\n`, 3],
    [`${WAITING} 3.0\r\n`, 3],
    [`${WAITING}{} 4\n`, 4],
    [`${WAITING}{engine="0"} 4\n`, 4],
    [`${WAITING}{engine="0"}4\n`, 4],
    [`${WAITING} { engine = "0" , model_name = "m" , } 4 17\n`, 4],
    [`${WAITING}{a="} 9",b="\\"} 8"} 4\n`, 4],
    [`${WAITING} 1e3\n`, 1000],
    [`${WAITING} +1.5E-2\n`, 0.015],
    [`${WAITING} .5\n`, 0.5],
    [`${WAITING} 5.\n`, 5],
    [`${WAITING} 0.1234567890123456789\n`, 0.12345678901234568],
    [`${WAITING} 123456789012345678901234567890\n`, 1.2345678901234568e29],
    [`${WAITING} -2\n`, -2],
    [`${WAITING} NaN\n`, Number.NaN],
    [`${WAITING} +Inf\n`, Infinity],
    [`${WAITING} -Inf\n`, -Infinity],
    [`${WAITING} inf\n`, Infinity],
    [`${WAITING} 3 1700000000.123\n`, 3],
    [`${WAITING} 3 # {trace_id="a } 7"} 0.5 1700000000.123\n`, 3],
    [`${WAITING}{engine="0"} 3 1700000000.123 # {} 0.5\n`, 3],
    [`${WAITING}{"engine.rank \\" }"="0","a"="b"} 4\n`, 4],
    [`${WAITING} ${'7'.repeat(400)}\n`, Infinity],
    [`${WAITING} 0.${'7'.repeat(400)}\n`, 7 / 9],
    ['up 1', 1],
  ];
  for (const [page, value] of good) {
    test(`is read: ${JSON.stringify(page)}`, () => assert.deepEqual(values(page), [value]));
  }

  const broken = [
    WAITING,
    `${WAITING}\n`,
    `${WAITING} \r\n`,
    `${WAITING} three\n`,
    `${WAITING} 0x10\n`,
    `${WAITING} 1_000\n`,
    `${WAITING} 1,5\n`,
    `${WAITING} 1 2 3\n`,
    `${WAITING} 1 soon\n`,
    `${WAITING}{engine="0" 4\n`,
    `${WAITING}{engine="0} 4\n`,
    `${WAITING}{engine="0\n,a="b"} 4\n`,
    `${WAITING}{engine="0\n} 4\n`,
    `${WAITING}{"engine\n"="b"} 4\n`,
    `${WAITING} 1 e5\n`,
    `${WAITING} 1 2 x # {}\n`,
    `${WAITING}{engine="0\\`,
    `${WAITING}{engine=0} 4\n`,
    `${WAITING}{="0"} 4\n`,
    `${WAITING}{engine="0";a="1"} 4\n`,
    `${WAITING}{engine="0"}\n`,
    `${WAITING}} 4\n`,
    `${WAITING}-x 4\n`,
    `${WAITING}{a="${'x'.repeat(20_000)}"} 4\n`,
  ];
  for (const page of broken) {
    test(`that breaks the format is a series without a value: ${JSON.stringify(page.slice(0, 60))}`, () => {
      assert.deepEqual(values(`${page}${page.endsWith('\n') ? 'up 1' : ''}`), [
        Number.NaN,
        ...(page.endsWith('\n') ? [1] : []),
      ]);
    });
  }

  const others = [
    '',
    '\n\n\r\n \n',
    `# ${WAITING} 3\n`,
    `# HELP ${WAITING} 3\n`,
    `#${WAITING} 3\n`,
    `${WAITING}_by_reason{reason="capacity"} 3\n`,
    `${WAITING}: 3\n`,
    `x${WAITING} 3\n`,
    `other{name="\\n${WAITING} 3"} 3\n`,
    'vllm:num_requests_waitin 3\n',
    'u 1\nupper 1\n up2 1',
  ];
  for (const page of others) {
    test(`of another name is passed over: ${JSON.stringify(page)}`, () => assert.deepEqual(values(page), []));
  }

  test('keeps the text of its value, and of what is broken, cut', () => {
    const read = (page: string): string | undefined =>
      parseExposition(Buffer.from(page), finder)?.get(WAITING)?.[0]?.text;
    assert.equal(read(`${WAITING}{a="b"} NaN 17\n`), 'NaN');
    assert.equal(read(`${WAITING}{a=b} 1\nup 1\n`), '{a=b} 1');
    assert.equal(read(`${WAITING} ${'9'.repeat(100)}z\n`), '9'.repeat(64));
  });
});

test('several series of a name come in the order of the page, escapes undone', () => {
  const page = [
    'up 1',
    `${WAITING}{engine="0",model_name="a\\\\b\\"c\\nd\\qé"} 1`,
    `${WAITING}_by_reason{engine="0"} 100`,
    `${WAITING}{engine="1"} 2`,
  ].join('\n');
  assert.deepEqual(parse(page), [
    { name: 'up', value: 1, labels: {} },
    { name: WAITING, value: 1, labels: { engine: '0', model_name: 'a\\b"c\nd\\qé' } },
    { name: WAITING, value: 2, labels: { engine: '1' } },
  ]);
});

test('a page with too many series of the wanted names is refused', () => {
  assert.ok(parseExposition(Buffer.from('up 1\n'.repeat(SERIES_MAX)), finder));
  assert.equal(parseExposition(Buffer.from('up 1\n'.repeat(SERIES_MAX + 1)), finder), undefined);
});

test('a page with too many lines is refused, wherever the wanted ones are', () => {
  const lines = 'a 1\n'.repeat(LINES_MAX - 1);
  for (const page of [`up 1\n${lines}`, `${lines}up 1\n`]) {
    assert.equal(parseExposition(Buffer.from(page), finder)?.get('up')?.length, 1);
    assert.equal(parseExposition(Buffer.from(`${page}#`), finder), undefined);
  }
});

test('a page is told from another text by its first line', () => {
  for (const page of ['# HELP x y\n', '\n\n# x\n', 'a_b{c="d"} 1\n', 'a:b 1', 'a NaN', 'x{y="z"}+Inf']) {
    assert.equal(looksLikeExposition(Buffer.from(page)), true, page);
  }
  for (const page of ['', '\n', '<html>', '{"a": 1}', '[1]', 'Not Found', 'hello, world 1', '\u0000\u0001']) {
    assert.equal(looksLikeExposition(Buffer.from(page)), false, page);
  }
});

// ---------------------------------------------------------------- against a simple parser

const LINE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{((?:[^"}]|"(?:\\.|[^\\"])*")*)\})?\s*(\S+)(?:\s+-?\d+(?:\.\d+)?)?(?:\s+#\s.*)?$/s;
const PAIR = /([a-zA-Z_][a-zA-Z0-9_]*|"(?:\\.|[^\\"])*")\s*=\s*"((?:\\.|[^\\"])*)"/gs;

/** The format as simply as it can be read; for valid pages only. */
function parseSimply(page: string): readonly Plain[] {
  const series = page
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? assert.fail(line);
      const pairs = [...labels.matchAll(PAIR)].map(([, key = '', text = '']) => [
        unescape(key.startsWith('"') ? key.slice(1, -1) : key),
        unescape(text),
      ]);
      const number = value.replace(/^([+-]?)inf$/i, '$1Infinity');
      return { name, value: Number(number), labels: Object.fromEntries(pairs) as Record<string, string> };
    });
  const names = [...new Set(series.map((of) => of.name))].filter((name) => NAMES.includes(name));
  return names.flatMap((name) => series.filter((of) => of.name === name));
}

function unescape(text: string): string {
  return text.replace(/\\(.)/gs, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}

const blank = fc.constantFrom('', ' ', '\t', '  ');
const gap = fc.constantFrom(' ', '\t', '  ');
const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NAMES) },
  fc.constantFrom(`${WAITING}_by_reason`, 'upp', 'u', 'vllm:x', 'process_cpu_seconds_total', '_', ':'),
  fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,30}$/),
);
const labelValue = fc
  .string({
    unit: fc.constantFrom('a', '7', '}', '{', '"', '\\', '\n', ',', '=', ' ', '#', 'é', '\r'),
    maxLength: 8,
  })
  .map((text) => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n'));
const label = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,5}$/) },
      labelValue.map((text) => `"${text}"`),
    ),
    blank,
    blank,
    labelValue,
  )
  .map(([key, before, after, value]) => `${key}${before}=${after}"${value}"`);
const labels = fc
  .tuple(fc.array(label, { maxLength: 4 }), blank, fc.boolean())
  .map(
    ([pairs, space, comma]) =>
      `{${space}${pairs.join(`${space},${space}`)}${comma && pairs.length > 0 ? ',' : ''}}`,
  );
const value = fc.oneof(
  fc.nat().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.double({ min: 0, max: 1e6, noNaN: true }).map((number) => number.toFixed(3)),
  fc.constantFrom('NaN', '+Inf', '-Inf', '1e3', '0.0', '17.0', '1.', '.5'),
);
const stamp = fc.oneof(
  fc.integer().map(String),
  fc.tuple(fc.nat(), fc.nat(999)).map(([seconds, part]) => `${seconds}.${part}`),
);
const series = fc
  .tuple(blank, name, blank, fc.option(labels), gap, value, fc.option(stamp), fc.option(labels), blank)
  .map(([indent, of, before, braces, space, number, at, exemplar, after]) => {
    const suffix = `${at === null ? '' : `${space}${at}`}${exemplar === null ? '' : ` # ${exemplar} 0.5`}`;
    return `${indent}${of}${before}${braces ?? ''}${space}${number}${suffix}${after}`;
  });
const comment = fc.constantFrom('', '# HELP up 1', '# TYPE up gauge', '#', `# ${WAITING} 5`, ' # up 1');
const page = fc
  .tuple(
    fc.array(fc.oneof({ weight: 4, arbitrary: series }, comment), { maxLength: 20 }),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([lines, newline, last]) => lines.join(newline) + (last ? newline : ''));

test('reads a valid page as a simple parser does', () => {
  fc.assert(
    fc.property(page, (text) => assert.deepEqual(parse(text), parseSimply(text))),
    { seed: 20260117, numRuns: 2000 },
  );
});

test('never throws on a page that was tampered with, and gives numbers only', () => {
  const edit = fc.tuple(fc.nat(2000), fc.nat(3), fc.uint8Array({ minLength: 1, maxLength: 6 }));
  fc.assert(
    fc.property(page, fc.array(edit, { maxLength: 8 }), (text, edits) => {
      let bytes = Buffer.from(text);
      for (const [position, removed, inserted] of edits) {
        const at = position % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at + removed)]);
      }
      for (const { value: number } of parse(bytes)) assert.equal(typeof number, 'number');
      looksLikeExposition(bytes);
    }),
    { seed: 20260118, numRuns: 2000 },
  );
});

test('reads the bytes of a view and nothing around them', () => {
  const whole = Buffer.from('up 1\nup 23\nup 4\n');
  const view = new Uint8Array(whole.buffer, whole.byteOffset + 5, 4);
  assert.deepEqual(
    parseExposition(view, finder)
      ?.get('up')
      ?.map((of) => of.value),
    [2],
  );
});
