import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { type ParsedList, readList } from '../../../src/config/parsed-list.ts';
import { type ListedServer, parseServerList } from '../../../src/config/server-list.ts';
import { parseTargetGroups } from '../../../src/config/target-groups.ts';
import type { Found } from '../../../src/discovery/discoverer.ts';
import { foundBackends } from '../../../src/discovery/found-backends.ts';
import { foundTargets } from '../../../src/discovery/targets.ts';
import { random } from '../../support/random.ts';

const FILE = 'backends.yaml';
const GOOD = [
  '- {Address: 10.0.0.1, Port: 8000}\n- {Address: "fd00::1", Port: 8001, Weight: 30, Zone: a}\n',
  '[{"Address":"10.0.0.1","Port":8000},{"Address":"10.0.0.2","Port":8000,"Weight":0}]',
  '- targets: ["10.0.0.1:8000", "[fd00::1]:8001"]\n  labels: {weight: "30", zone: a, __metrics_path__: /m}\n',
  '[{"targets":["10.0.0.1:8000"],"labels":{"__meta_ec2_availability_zone":"b"}},{"targets":[]}]',
];
/** What breaks parsers: signs of YAML and JSON, numbers that are none, controls, names of JavaScript. */
const PIECES = [
  ...Array.from('[]{}:,-&*!|>%@`"\'#?~\\\n\r\t \0\u2028\ufeff\ud800'),
  '- ',
  '---\n',
  '...\n',
  '<<: ',
  '&a ',
  '*a ',
  '!!binary ',
  'null',
  '1e999',
  '-0',
  '0x50',
  '1_0',
  'NaN',
  '65536',
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '0.0.0.0',
  '__proto__',
  'constructor',
  'targets',
  'Address',
];

/** One of the good texts with some places cut, doubled or replaced. */
function broken(next: () => number): string {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)] as T;
  let text = pick(GOOD);
  for (let changes = 1 + Math.floor(next() * 4); changes > 0; changes--) {
    const from = Math.floor(next() * text.length);
    const to = next() < 0.5 ? from : from + Math.floor(next() * 12);
    text = text.slice(0, from) + (next() < 0.8 ? pick(PIECES) : text.slice(from, to + 9)) + text.slice(to);
  }
  return text;
}

/** What becomes of a text, by either format. */
async function outcomes(text: string): Promise<readonly (readonly Found[] | string)[]> {
  const servers = await readList(text, (piece) => parseServerList(piece, FILE));
  const targets = await readList(text, (piece) => parseTargetGroups(piece, FILE));
  return [
    outcome(servers, (items) => items.map(foundOf)),
    outcome(targets, (items) => foundTargets(items).found),
  ];
}

function outcome<Item>(
  parsed: ParsedList<Item>,
  found: (items: readonly Item[]) => readonly Found[],
): readonly Found[] | string {
  if (parsed.kind === 'list') return found(parsed.items);
  const [first] = parsed.mistakes;
  assert.ok(first !== undefined && first.line >= 1 && first.column >= 1, 'a mistake with its place');
  return first.message;
}

function foundOf({ Address: address, Port: port, Weight: weight, Zone: zone }: ListedServer): Found {
  return { address, port, weight, zone };
}

test('whatever a list is broken by, it is a mistake with its place, or backends that can be used', async () => {
  const next = random(8);
  let [lists, mistakes] = [0, 0];
  for (let round = 0; round < 300; round++) {
    const text = broken(next);
    for (const result of await outcomes(text)) {
      if (typeof result === 'string') {
        mistakes++;
        continue;
      }
      lists++;
      const backends = foundBackends(result, false);
      assert.equal(backends.kind, 'list');
      for (const { id, address, port, weight } of backends.kind === 'list' ? backends.backends : []) {
        assert.ok(Number.isInteger(port) && port > 0 && port < 65_536, text);
        assert.ok(Number.isInteger(weight) && weight >= 0 && weight <= 100, text);
        assert.doesNotMatch(address, /^169\.254\.|^0\.0\.0\.0$|^fe80/, text);
        assert.equal(id, address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);
      }
    }
  }
  assert.ok(lists > 20 && mistakes > 150, `${lists} lists, ${mistakes} mistakes`);
});

test('any list says the same as YAML, as JSON and in pieces', async () => {
  const next = random(9);
  for (let round = 0; round < 20; round++) {
    const count = Math.floor(next() * 40) + (round === 0 ? 600 : 0);
    const list = Array.from({ length: count }, (_, index) => ({
      Address: next() < 0.8 ? `10.${round}.${index >> 8}.${index & 255}` : `fd00::${index.toString(16)}`,
      Port: 1 + Math.floor(next() * 65_535),
      ...(next() < 0.5 && { Weight: Math.floor(next() * 101) }),
      ...(next() < 0.5 && { Zone: `zone-${index % 3}` }),
    }));
    const parse = (text: string) => readList(text, (piece) => parseServerList(piece, FILE));
    const json = await parse(JSON.stringify(list));
    assert.equal(json.kind === 'list' && json.items.length, count);
    assert.deepEqual(await parse(stringify(list)), json);
    assert.deepEqual(await parse(stringify(list, { collectionStyle: 'flow' })), json);
  }
});
