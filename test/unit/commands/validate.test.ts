import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { DIFFERENCES, validate } from '../../../src/commands/validate.ts';
import { effectiveFile, writeYaml } from '../../../src/config/effective.ts';
import { parseConfiguration } from '../../../src/config/load.ts';
import { type ConfigurationInput, configurationFile } from '../../../src/config/schema.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import { edit, GOOD } from '../config/bad/bad-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-validate-'));
});
after(async () => {
  await rm(folder, { recursive: true });
});

async function run(text: string, json = false, files = true) {
  const config = join(folder, 'plimsoll.yaml');
  await writeFile(config, text);
  let out = '';
  let err = '';
  const code = await validate(
    { config, json, files },
    {
      out: (added) => {
        out += added;
      },
      err: (added) => {
        err += added;
      },
    },
  );
  return { config, code, out, err };
}

const EFFECTIVE = `Xds:
  Listen: 127.0.0.1:18000
  DrainSeconds: 10
  Limits:
    Streams: 20000
    StreamsPerIdentity: 1000
    StreamsPerConnection: 100
    Names: 1000
    NameLength: 512
    MessageBytes: 1048576
    RequestsPerSecond: 100
    NewStreamsPerSecond: 2000
    ReadSeconds: 30
    AckSeconds: 60
  Keepalive: {IntervalSeconds: 30, TimeoutSeconds: 10}
Admin: {Listen: 127.0.0.1:9090}
Log: {Level: info, Format: auto}
ServerGroups:
  - Name: llama
    Scheduler: Wrr
    ServiceExtension: load-aware
    EnvoyLbPolicy: LeastRequest
    Mode: Active
    RetryAfterSeconds: 1
    OutlierDetection: true
    Mesh: None
    Locality: None
    AllowLinkLocal: false
    DrainSeconds: 30
    Servers:
      - {Address: 10.0.3.11, Port: 8000, Weight: 100}
      - {Address: 2001:db8::1, Port: 8000, Weight: 100}
ServiceExtensions:
  - Name: load-aware
    Components:
      - Type: LoadAwareRouting
        Config:
          MetricCollector:
            Timeout: 1
            Interval: 10
            HttpMetricCollect:
              Path: /metrics
              Method: GET
              Scheme: http
              Engine: Auto
              LeanScrape: true
          Scheduler:
            Scorers:
              - {Name: TotalQueuedRequests, Weight: 50}
              - {Name: KVCacheUtilization, Weight: 30}
              - {Name: RunningRequests, Weight: 20}
            Policy: Adaptive
            Saturation:
              TotalQueuedRequests: {Mark: 40, Clear: 10}
              KVCacheUtilization: {Mark: 0.98}
              Admission: Proportional
            OnCollectFailure: Keep
Listeners:
  - {Name: inference, Address: 0.0.0.0, Port: 10000, ServerGroup: llama}
`;

/** undefined: it is invalid. */
function meaningOf(text: string): Configuration | undefined {
  const result = parseConfiguration(text, 'f');
  return result.kind === 'valid' ? result.configuration : undefined;
}

test('a good file is printed with every default, and the differences as comments', async () => {
  const text = edit(['Interval: 1\n', 'Interval: 10\n'], ['10.0.3.12', '2001:DB8::0:1']);
  const { config, code, out, err } = await run(text);
  assert.equal(code, 0);
  assert.equal(err, '');
  const comments = DIFFERENCES.map((difference) => `# - ${difference}\n`).join('');
  assert.equal(
    out,
    `# ${config} with every default filled in\n${EFFECTIVE}\n# Differences from the component this follows\n${comments}`,
  );
  assert.deepEqual(meaningOf(out), meaningOf(text));
  assert.equal((await run(out)).out, out);
});

test('a good file in JSON', async () => {
  const { config, code, out, err } = await run(GOOD, true);
  assert.equal(code, 0);
  assert.equal(err, '');
  const printed = JSON.parse(out) as { readonly configuration: unknown };
  assert.deepEqual(printed, {
    file: config,
    valid: true,
    configuration: printed.configuration,
    warnings: [],
    differences: DIFFERENCES,
  });
  assert.deepEqual(meaningOf(JSON.stringify(printed.configuration)), meaningOf(GOOD));
});

describe('a page that is read as a whole more often than once a second is warned of', () => {
  const quick = ['Interval: 1\n', 'IntervalMilliseconds: 250\n'] as const;
  for (const [http, reason] of [
    ['{Path: /metrics, LeanScrape: false}', 'LeanScrape: false'],
    ['{Path: /metrics, Method: POST}', 'Method: POST'],
    ["{Path: '/metrics?engine=0'}", 'Path has a query'],
  ] as const) {
    test(reason, async () => {
      const { out, code } = await run(edit(quick, ['{Path: /metrics}', http]));
      assert.equal(code, 0);
      assert.match(out, new RegExp(`^# - load-aware: with IntervalMilliseconds 250 .*\\(${reason}\\)`, 'm'));
      const printed = JSON.parse((await run(edit(quick, ['{Path: /metrics}', http]), true)).out) as {
        readonly warnings: readonly string[];
      };
      assert.equal(printed.warnings.length, 1);
    });
  }

  test('but not one that can be lean', async () => {
    assert.doesNotMatch((await run(edit(quick))).out, /# Warnings/);
  });
});

describe('a file that is named', () => {
  const withTls = (more = '') => {
    const tls = `{CertFile: ${join(folder, 'no.crt')}, KeyFile: ${join(folder, 'key')}${more}}`;
    return edit(['{Listen: 127.0.0.1:18000}', `{Listen: 127.0.0.1:18000, Tls: ${tls}}`]);
  };

  test('and without which serve would not start is a mistake where it is named, each of them', async () => {
    await writeFile(join(folder, 'key'), 'no key');
    const { config, code, out, err } = await run(withTls(`, ClientCaFile: ${folder}`));
    assert.deepEqual([code, out], [64, '']);
    const [cert, ca, hint, ...more] = err.split('\n');
    const at = (field: string, path: string) => `:\\d+:\\d+: Xds\\.Tls\\.${field}: ${path}: cannot be read: `;
    assert.ok(cert?.startsWith(`${config}:`));
    assert.match(cert ?? '', new RegExp(`${at('CertFile', join(folder, 'no.crt'))}ENOENT`));
    assert.match(ca ?? '', new RegExp(`${at('ClientCaFile', folder)}it is no regular file$`));
    assert.match(
      hint ?? '',
      /--no-files looks at no such file, where only serve on its machine can read them$/,
    );
    assert.deepEqual(more, ['']);
  });

  test('so is one that can be read and is no good, and nothing of it is told', async () => {
    await writeFile(join(folder, 'no.crt'), 'sesame');
    await writeFile(join(folder, 'key'), 'sesame');
    const { code, err } = await run(withTls());
    await rm(join(folder, 'no.crt'));
    assert.equal(code, 64);
    assert.match(err, /: Xds\.Tls\.CertFile: \S+no\.crt: holds no certificate in PEM, or is cut off$/m);
    assert.doesNotMatch(err, /sesame/);
    const admin = join(folder, 'admin.token');
    await writeFile(admin, 'sesame');
    const short = await run(edit(['127.0.0.1:9090}', `127.0.0.1:9090, BearerTokenFile: ${admin}}`]), true);
    const { mistakes } = JSON.parse(short.out) as { readonly mistakes: readonly { readonly path: string }[] };
    assert.deepEqual([short.code, mistakes.map(({ path }) => path)], [64, ['Admin.BearerTokenFile']]);
    assert.doesNotMatch(short.out, /sesame/);
  });

  test('is left out where they are on another machine', async () => {
    const { code, err } = await run(withTls(), false, false);
    assert.deepEqual([code, err], [0, '']);
  });

  test('and that serve waits for is warned of', async () => {
    const { code, out } = await run(
      edit(['{Path: /metrics}', '{Path: /metrics, Headers: {X-Key: {File: /no/key}}}']),
    );
    assert.equal(code, 0);
    assert.match(
      out,
      /^# - ServiceExtensions\[0\]\.Components\[0\]\.Config\.MetricCollector\.HttpMetricCollect\.Headers\.X-Key\.File: \/no\/key: cannot be read: ENOENT.*; until it is good, its backends give no metrics$/m,
    );
    assert.deepEqual(meaningOf(out), meaningOf(out.replace(/\n# Warnings[^]*/, '')));
  });

  test('as is one that says where backends are', async () => {
    const servers = /^ +Servers:\n(?: +- .*\n)+/m.exec(GOOD)?.[0] ?? '';
    const indent = /^ */.exec(servers)?.[0] ?? '';
    const { code, out } = await run(edit([servers, `${indent}Discovery: {File: {Path: /no/list}}\n`]));
    assert.equal(code, 0);
    assert.match(
      out,
      /^# - ServerGroups\[0\]\.Discovery\.File\.Path: \/no\/list: cannot be read: ENOENT.*; until /m,
    );
  });
});

test('every mistake of a bad file goes to standard error, exit code 64', async () => {
  const { config, code, out, err } = await run(
    edit(['Timeout: 1', 'Timeout: 0'], ['Port: 10000', 'Prot: 0']),
  );
  assert.equal(code, 64);
  assert.equal(out, '');
  assert.equal(
    err,
    `${config}:16:22: ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout: is 0, but must be an integer 1..300\n` +
      `${config}:25:41: Listeners[0].Prot: is an unknown key; did you mean Port?\n` +
      `${config}:25:47: Listeners[0].Prot: is 0, but must be an integer 1..65535\n`,
  );
});

test('the mistakes of a bad file in JSON, exit code 64', async () => {
  const { config, code, out, err } = await run(edit(['Timeout: 1', 'Timeout: 0']), true);
  assert.equal(code, 64);
  assert.equal(err, '');
  assert.deepEqual(JSON.parse(out), {
    file: config,
    valid: false,
    mistakes: [
      {
        file: config,
        line: 16,
        column: 22,
        path: 'ServiceExtensions[0].Components[0].Config.MetricCollector.Timeout',
        message: 'is 0, but must be an integer 1..300',
      },
    ],
    more: 0,
  });
});

test('of very many mistakes the first 500 are printed, and how many more there are', async () => {
  const text = GOOD + Array.from({ length: 2_000 }, (_, i) => `K${i}: 1\n`).join('');
  const { config, code, err } = await run(text);
  const lines = err.trimEnd().split('\n');
  assert.equal(code, 64);
  assert.equal(lines.length, 501);
  assert.ok(lines.every((line, index) => index === 500 || line.startsWith(`${config}:`)));
  assert.equal(lines[500], 'and 1500 more mistakes');
  const { mistakes, more } = JSON.parse((await run(text, true)).out) as { mistakes: unknown[]; more: number };
  assert.deepEqual([mistakes.length, more], [500, 1_500]);
});

test('a file that is not there', async () => {
  const config = join(folder, 'gone.yaml');
  const errors: string[] = [];
  const code = await validate(
    { config, json: false },
    { out: () => assert.fail('nothing is printed'), err: (text) => errors.push(text) },
  );
  assert.equal(code, 64);
  assert.deepEqual(errors, [`${config}:1:1: cannot be read: there is no such file\n`]);
});

const name = fc.oneof(
  fc.stringMatching(/^[!-~]{1,20}$/),
  fc.constantFrom(
    'null',
    '~',
    'true',
    '1e3',
    '010',
    '0x10',
    '.nan',
    '-',
    '?',
    ':',
    '#',
    '*a',
    '&a',
    '!x',
    '<<',
    '---',
    '%',
  ),
);
const port = fc.integer({ min: 1, max: 65_535 });
const marks = fc.record(
  { Mark: fc.integer({ min: 11, max: 100 }), Clear: fc.integer({ min: 0, max: 2 }) },
  { requiredKeys: [] },
);

const file: fc.Arbitrary<ConfigurationInput> = fc
  .record({
    names: fc.uniqueArray(name, { minLength: 2, maxLength: 2 }),
    extension: name,
    addresses: fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()), { minLength: 2, maxLength: 2 }),
    port,
    interval: fc.integer({ min: 1, max: 50 }),
    policy: fc.constantFrom('LeastRequest' as const, 'RoundRobin' as const, undefined),
    outlierDetection: fc.boolean(),
    seconds: fc.double({ min: 0.001, max: 86_400, noNaN: true }),
    saturation: fc.oneof(
      fc.constant(false as const),
      fc.record({
        TotalQueuedRequests: marks.filter((given) => given.Mark === undefined || given.Mark !== 0),
        KVCacheUtilization: fc.record({ Mark: fc.double({ min: 0, max: 1, noNaN: true }) }),
        Admission: fc.constantFrom('Proportional' as const, 'None' as const),
      }),
    ),
  })
  .map(({ names: [a = '', b = ''], extension, addresses, saturation, ...fields }) => ({
    Xds: {
      DrainSeconds: fields.seconds,
      Limits: { Streams: fields.port, ReadSeconds: fields.seconds },
      Keepalive: { TimeoutSeconds: fields.seconds },
      MaxConnectionAgeSeconds: fields.seconds,
    },
    ServerGroups: [
      {
        Name: a,
        ServiceExtension: extension,
        RetryAfterSeconds: fields.seconds,
        OutlierDetection: fields.outlierDetection,
        AllowLinkLocal: true,
        Servers: addresses.map((Address) => ({ Address, Port: fields.port })),
        ...(fields.policy === undefined ? {} : { EnvoyLbPolicy: fields.policy }),
      },
      { Name: b, Servers: [{ Address: '10.0.3.11', Port: fields.port, Weight: 1 }] },
    ],
    ServiceExtensions: [
      {
        Name: extension,
        Components: [
          {
            Type: 'LoadAwareRouting' as const,
            Config: {
              MetricCollector: {
                Timeout: 300,
                Interval: fields.interval,
                HttpMetricCollect: { Path: '/#~{}"' },
              },
              Scheduler: {
                Scorers: [{ Name: 'RunningRequests' as const, Weight: 1 }],
                Saturation: saturation,
              },
            },
          },
        ],
      },
    ],
    Listeners: [{ Name: b, Address: '::', Port: fields.port, ServerGroup: a }],
  }));

test('what is printed stands for the same configuration, whatever the file', () => {
  let valid = 0;
  fc.assert(
    fc.property(file, (input) => {
      const given = meaningOf(JSON.stringify(input));
      if (given === undefined) return;
      valid += 1;
      assert.deepEqual(meaningOf(writeYaml(effectiveFile(configurationFile.parse(input)))), given);
    }),
    { seed: 7, numRuns: 500 },
  );
  assert.ok(valid > 250, String(valid));
});
