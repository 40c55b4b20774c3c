import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from '../../../src/config/changes.ts';
import { effectiveFile } from '../../../src/config/effective.ts';
import { parseConfiguration } from '../../../src/config/load.ts';
import type { ConfigurationInput } from '../../../src/config/schema.ts';
import { withoutSecrets } from '../../../src/config/secrets.ts';

const FILE = `Xds: {Listen: 127.0.0.1:18000}
ServerGroups:
  - Name: llama
    ServiceExtension: load-aware
    Servers:
      - {Address: 10.0.3.11, Port: 8000}
      - {Address: 10.0.3.12, Port: 8000}
  - {Name: mistral, Servers: [{Address: 10.0.4.11, Port: 8000}]}
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector: {Timeout: 1, Interval: 1, HttpMetricCollect: {Path: /metrics}}
          Scheduler: {Scorers: [{Name: TotalQueuedRequests, Weight: 1}]}
Listeners: [{Name: inference, Address: 0.0.0.0, Port: 10000, ServerGroup: llama}]
`;

function effective(...edits: readonly (readonly [string, string])[]): ConfigurationInput {
  let text = FILE;
  for (const [from, to] of edits) {
    assert.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  const result = parseConfiguration(text, 'plimsoll.yaml');
  return result.kind === 'valid'
    ? effectiveFile(result.fields)
    : assert.fail(JSON.stringify(result.mistakes));
}

const CASES: readonly (readonly [
  what: string,
  edits: readonly (readonly [string, string])[],
  lines: string[],
])[] = [
  ['nothing', [], []],
  ['a comment', [['Listeners:', '# more\nListeners:']], []],
  [
    'the order of servers',
    [
      ['10.0.3.11', 'x'],
      ['10.0.3.12', '10.0.3.11'],
      ['{Address: x', '{Address: 10.0.3.12'],
    ],
    [],
  ],
  [
    'a weight, and what was a default',
    [
      ['10.0.3.11, Port: 8000', '10.0.3.11, Port: 8000, Weight: 50'],
      ['Interval: 1,', 'Interval: 20,'],
    ],
    [
      'ServerGroups[llama].Servers[10.0.3.11:8000].Weight: 100 → 50',
      'ServiceExtensions[load-aware].Components[LoadAwareRouting].Config.MetricCollector.Interval: 1 → 20',
      'ServiceExtensions[load-aware].Components[LoadAwareRouting].Config.Scheduler.Saturation.TotalQueuedRequests.Mark: 10 → 40',
      'ServiceExtensions[load-aware].Components[LoadAwareRouting].Config.Scheduler.Saturation.TotalQueuedRequests.Clear: 3 → 10',
    ],
  ],
  [
    'a server that came and a group that went',
    [
      ['10.0.3.12, Port: 8000}', '10.0.3.13, Port: 8001}'],
      ['  - {Name: mistral, Servers: [{Address: 10.0.4.11, Port: 8000}]}\n', ''],
    ],
    [
      'ServerGroups[llama].Servers[10.0.3.12:8000] is gone',
      'ServerGroups[llama].Servers[10.0.3.13:8001] is new',
      'ServerGroups[mistral] is gone',
    ],
  ],
  [
    'a listener sent elsewhere, saturation turned off, and a field set',
    [
      ['ServerGroup: llama}', 'ServerGroup: mistral}'],
      ['Scheduler: {Scorers', 'Scheduler: {Saturation: false, Scorers'],
      ['Path: /metrics', 'Path: /metrics, Host: a.example'],
    ],
    [
      'ServiceExtensions[load-aware].Components[LoadAwareRouting].Config.MetricCollector.HttpMetricCollect.Host: not set → "a.example"',
      'ServiceExtensions[load-aware].Components[LoadAwareRouting].Config.Scheduler.Saturation: a map → false',
      'Listeners[inference].ServerGroup: "llama" → "mistral"',
    ],
  ],
  ['a part that was not there', [['Xds: {', 'Xds: {Tls: {CertFile: a, KeyFile: b}, ']], ['Xds.Tls is new']],
];

for (const [what, edits, lines] of CASES) {
  test(`in words: ${what}`, () => {
    assert.deepEqual([...changesBetween(effective(), effective(...edits))].toSorted(), lines.toSorted());
  });
}

test('there and back again: the words are the other way round', () => {
  const [before, after] = [effective(), effective(['Interval: 1,', 'Interval: 2,'])];
  assert.match(changesBetween(before, after).join(), /Interval: 1 → 2$/);
  assert.match(changesBetween(after, before).join(), /Interval: 2 → 1$/);
});

test('many changes are cut, and their number is told', () => {
  const servers = (weight: number): string =>
    Array.from({ length: 80 }, (_, i) => `{Address: 10.0.9.${i}, Port: 8000, Weight: ${weight}}`).join(', ');
  const [before, after] = [1, 2].map((weight) =>
    effective(['{Address: 10.0.4.11, Port: 8000}', servers(weight)]),
  );
  assert.ok(before !== undefined && after !== undefined);
  const lines = changesBetween(before, after);
  assert.equal(lines.length, 50);
  assert.equal(lines.at(-1), 'and 31 more');
});

test('what may be secret is neither shown nor told', () => {
  const withHeader = (value: string): ConfigurationInput =>
    ({ ...effective(), Headers: { authorization: value, other: { File: 'token' } } }) as ConfigurationInput;
  const lines = changesBetween(withHeader('Bearer one'), withHeader('Bearer two'));
  assert.deepEqual(lines, ['Headers.authorization: another value']);
  const shown = JSON.stringify(withoutSecrets(withHeader('Bearer one')));
  assert.match(shown, /"Headers":\{"authorization":"\(hidden\)","other":\{"File":"token"\}\}/);
  assert.doesNotMatch(shown, /Bearer/);
});
