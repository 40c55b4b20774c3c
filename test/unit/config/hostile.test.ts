import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { overlaps } from '../../../src/config/address.ts';
import { formatMistake, type LoadResult, parseConfiguration } from '../../../src/config/load.ts';
import { GOOD } from './bad/bad-file.ts';

/** Valid, or mistakes that are each in the file, in order, and one printable line. */
function assertSound(result: LoadResult, text: string): void {
  if (result.kind === 'valid') return;
  assert.ok(result.mistakes.length > 0);
  const lines = text.split('\n').length;
  let previous = { line: 1, column: 1 };
  for (const mistake of result.mistakes) {
    assert.ok(mistake.line >= 1 && mistake.line <= lines, `${mistake.line} of ${lines} lines`);
    assert.ok(mistake.column >= 1);
    assert.ok(
      mistake.line > previous.line || (mistake.line === previous.line && mistake.column >= previous.column),
    );
    previous = mistake;
    assert.match(formatMistake(mistake), /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u);
  }
}

const PIECES = (
  '\t|\n|  |:|: |- |{|}|[|]|,|#|"|\'|&a |*a|<<: |? |>|---\n|...\n|%YAML 1.1\n|!x |!!str |\\|\0|\r|\uFEFF|\ud800|\u2028|' +
  '__proto__|~|0|-1|1e400|.nan|0x10|010|null|true|Weight|ServerGroups|constructor'
).split('|');

const mutation = fc.record({
  at: fc.nat(GOOD.length),
  remove: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })),
  insert: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 4 })),
});

test('random mutations of a good file are valid or mistaken, never thrown', () => {
  let valid = 0;
  let mistaken = 0;
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
      const text = mutations.reduce(
        (changed, { at, remove, insert }) => changed.slice(0, at) + insert + changed.slice(at + remove),
        GOOD,
      );
      const result = parseConfiguration(text, 'f');
      if (result.kind === 'valid') valid += 1;
      else mistaken += 1;
      assertSound(result, text);
    }),
    { seed: 4, numRuns: 2000 },
  );
  assert.ok(valid > 20 && mistaken > 500, `${valid} valid, ${mistaken} mistaken`);
});

/** Any JSON value with the names of fields in it, so that it gets past the first key. */
const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      1,
      -1,
      0.5,
      1e300,
      '',
      'llama',
      'load-aware',
      '10.0.3.11',
      'LoadAwareRouting',
    ),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...(GOOD.match(/[A-Z]\w+/g) ?? [])), tie('any'), { maxKeys: 6 }),
  ),
})).any;

test('any JSON is valid or mistaken, never thrown', () => {
  fc.assert(
    fc.property(
      fc.record({
        ServerGroups: value,
        ServiceExtensions: value,
        Listeners: value,
        Xds: value,
        Admin: value,
      }),
      (file) => {
        const text = JSON.stringify(file);
        const result = parseConfiguration(text, 'f');
        assertSound(result, text);
      },
    ),
    { seed: 5, numRuns: 1000 },
  );
});

test('any text is valid or mistaken, never thrown', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...PIECES) })),
      (text) => {
        assertSound(parseConfiguration(text, 'f'), text);
      },
    ),
    { seed: 6, numRuns: 3000 },
  );
});

test('a huge number of mistakes is reported whole', () => {
  const text = `ServerGroups: [{Name: llama, Servers: [${'0, '.repeat(150_000)}]}]`;
  const result = parseConfiguration(text, 'f');
  assert.equal(result.kind === 'invalid' && result.mistakes.length, 150_000);
});

test('names of another scheme, by the thousand: all are told, the first with a hint', () => {
  const name = (i: number): string => `prod-inference-llama-${i}`;
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  const text = [
    'ServerGroups:',
    ...numbers.map((i) => `- {Name: ${name(i)}, Servers: [{Address: 10.0.0.1, Port: 8000}]}`),
    'Listeners:',
    ...numbers.map(
      (i) =>
        `- {Name: l${i}, Address: 127.0.0.1, Port: ${10_000 + i}, ServerGroup: ${name(i).replaceAll('-', '_')}}`,
    ),
  ].join('\n');
  const result = parseConfiguration(text, 'f');
  assert.ok(result.kind === 'invalid');
  assert.equal(result.mistakes.length, 1000);
  const hints = result.mistakes.map(({ message }) => message.includes('did you mean'));
  // each hint has looked at all the names
  const count = hints.filter(Boolean).length;
  assert.ok(hints[0] && count < 20, `${count} hints`);
});

test('a selector of a megabyte is refused by its length', () => {
  const selector = `${'a'.repeat(1_000_000)}%`;
  const text = `ServerGroups: [{Name: a, Discovery: {Kubernetes: {Namespace: a, PodSelector: ${selector}, Port: 1}}}]`;
  const result = parseConfiguration(text, 'f');
  assert.ok(result.kind === 'invalid');
  assert.match(
    result.mistakes.map(formatMistake).join('\n'),
    /^\S+ \S+PodSelector: is "a{59}…", but must be a label/,
  );
});

test('of listeners that take the same address, each is told the first that it overlaps', () => {
  const address = fc.constantFrom('0.0.0.0', '127.0.0.1', '10.0.0.1', '::', '::1');
  fc.assert(
    fc.property(fc.array(fc.record({ address, port: fc.constantFrom(80, 81) }), { maxLength: 8 }), (all) => {
      const listeners = all.map(({ address: Address, port: Port }, i) => ({
        Name: `l${i}`,
        Address,
        Port,
        ServerGroup: 'a',
      }));
      const groups = [{ Name: 'a', Servers: [{ Address: '10.0.0.1', Port: 1 }] }];
      const result = parseConfiguration(JSON.stringify({ ServerGroups: groups, Listeners: listeners }), 'f');
      const told = result.kind === 'valid' ? [] : result.mistakes.map(({ message }) => message);
      const expected = all.flatMap((one, i) => {
        const first = all
          .slice(0, i)
          .findIndex((other) => other.port === one.port && overlaps(other.address, one.address, false));
        return first < 0 ? [] : [`Listeners[${first}].Address`];
      });
      assert.deepEqual(
        told.map((message) => /Listeners\S+/.exec(message)?.[0]),
        expected,
      );
    }),
    { seed: 8, numRuns: 300 },
  );
});
