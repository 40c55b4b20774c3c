import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { App } from '../../../src/app.ts';
import { record } from '../../../src/commands/record.ts';
import { replay } from '../../../src/commands/replay.ts';
import { replayText } from '../../../src/commands/replay-text.ts';
import { parseConfiguration } from '../../../src/config/load.ts';
import type { Configuration } from '../../../src/core/model/configuration.ts';
import type { GroupReport } from '../../../src/replay/replay.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { GaugeBackend, pageOf } from '../../support/gauge-backend.ts';
import { yamlOf } from '../../support/voyage.ts';
import { waitFor } from '../../support/wait-for.ts';

const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.63.${last}`));
let folder: string;
let recorded: string;
let yaml: string;

/** Loads that rise and fall, each in its own time; one fails now and then, and all queue for a while. */
for (const [index, backend] of backends.entries()) {
  backend.metrics = (_request, response) => {
    const { scrapes } = backend;
    if (index === 2 && scrapes % 9 === 8) {
      response.writeHead(500).end();
      return;
    }
    const queued = scrapes % 40 > 15 ? 4 * index + 6 : 0;
    const running = 4 + 6 * index + ((scrapes * (7 + index)) % 13);
    response.end(pageOf({ queued, running, kv: running / 40, finished: (2 + index) * scrapes }));
  };
}

function configurationOf(text: string): Configuration {
  const result = parseConfiguration(text, 'plimsoll.yaml');
  if (result.kind === 'invalid') return assert.fail(JSON.stringify(result.mistakes));
  return result.configuration;
}

async function run(options: { file?: string; config?: string; group?: string; picture?: string }) {
  const config = join(folder, 'new.yaml');
  await writeFile(config, options.config ?? yaml);
  let out = '';
  let err = '';
  const exit = await replay(
    {
      file: options.file ?? recorded,
      config,
      group: options.group,
      json: true,
      picture: options.picture,
      columns: undefined,
    },
    { out: (text) => (out += text), err: (text) => (err += text) },
  );
  const { groups = [], warnings = [] } = (out === '' ? {} : JSON.parse(out)) as {
    groups?: readonly GroupReport[];
    warnings?: readonly string[];
  };
  return { exit, err: err.replaceAll(folder, 'FOLDER'), group: groups[0], groups, warnings };
}

function recordInto(
  file: string,
  {
    admin,
    seconds = 600,
    signal = new AbortController().signal,
  }: { admin: string; seconds?: number; signal?: AbortSignal },
) {
  let out = '';
  let err = '';
  let progress = '';
  const ended = record(
    { file, admin, seconds },
    {
      out: (text) => (out += text),
      err: (text) => (err += text),
      clock: systemClock,
      progress: (text) => (progress = text === '' ? progress : text),
      signal,
    },
  );
  return ended.then((exit) => ({
    exit,
    out: out.replaceAll(folder, 'FOLDER'),
    err: err.replaceAll(folder, 'FOLDER'),
    progress,
  }));
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-record-'));
  recorded = join(folder, 'fleet.jsonl.gz');
  await Promise.all(backends.map((backend) => backend.start()));
  yaml = yamlOf({ backends }).replace('Interval: 1,', 'IntervalMilliseconds: 100,');
  const app = new App({
    configuration: configurationOf(yaml.replaceAll('llama', 'mixtral')),
    clock: systemClock,
    log: silentLogger,
  });
  const bound = await app.start();
  try {
    const end = new AbortController();
    const ended = recordInto(recorded, {
      admin: `http://127.0.0.1:${bound.admin.port}`,
      signal: end.signal,
    });
    await waitFor('the recording', () => stat(recorded).then(() => true));
    // a group whose first evaluation is recorded too
    app.reload(configurationOf(yaml));
    const from = Math.min(...backends.map(({ scrapes }) => scrapes));
    await waitFor('seventy collections', () => backends.every(({ scrapes }) => scrapes > from + 70), 40_000);
    end.abort();
    const { exit, out, err } = await ended;
    assert.deepEqual([exit, err], [0, '']);
    assert.match(
      out,
      /^recorded 0:00:\d\d: \d+ evaluations of \d server groups?, \d+ kB in FOLDER.fleet\.jsonl\.gz\n$/,
    );
  } finally {
    await app.stop(AbortSignal.abort());
    await Promise.all(backends.map((backend) => backend.stop()));
  }
});

after(() => rm(folder, { recursive: true }));

test('the same configuration comes to exactly what was published', async () => {
  const { exit, err, group, warnings } = await run({});
  assert.deepEqual([exit, err], [0, '']);
  assert.ok(group !== undefined && group.evaluations > 40, String(group?.evaluations));
  assert.equal(group.identicalEvaluations, group.evaluations);
  assert.deepEqual([group.warmUpEvaluations, group.missedEvaluations, group.movedShareRatio], [0, 0, 0]);
  assert.ok(group.was.pushes > 5);
  assert.deepEqual(group.would, group.was);
  const evaluations = group.evaluations;
  assert.deepEqual(group.baseline, {
    identicalEvaluations: evaluations,
    movedShareRatio: 0,
    figures: group.was,
    shares: group.backends.map(({ was }) => was),
    changedIdenticalEvaluations: evaluations,
    changedShareRatio: 0,
  });
  for (const { was, would } of group.backends) assert.deepEqual(would, was);
  assert.ok(group.backends.some(({ was }) => was.max > was.min + 0.05));
  assert.deepEqual(warnings, ['recorded, but not in the configuration: mixtral']);
});

test('another configuration: what would have been, beside what was, as numbers and as a picture', async () => {
  const picture = join(folder, 'replay.svg');
  const config = yaml.replace(
    'Scorers:',
    'Policy: Linear\n            Saturation: false\n            Scorers:',
  );
  const { group } = await run({ config, group: 'llama', picture });
  assert.ok(group !== undefined);
  assert.ok(group.identicalEvaluations < group.evaluations / 2);
  assert.ok(group.movedShareRatio > 0.02, String(group.movedShareRatio));
  assert.ok(group.learningEvaluations < group.evaluations);
  assert.equal(group.baseline?.identicalEvaluations, group.evaluations);
  assert.equal(group.baseline.changedShareRatio, group.movedShareRatio);
  assert.ok(group.backends.some(({ was }) => was.saturatedRatio > 0) || group.was.refusedShare.max > 0);
  assert.ok(group.backends.every(({ would }) => would.saturatedRatio === 0));
  assert.equal(group.would.refusedShare.max, 0);
  const svg = await readFile(picture, 'utf8');
  assert.match(svg, /^<svg .*Open loop.*<\/svg>\n$/s);
  for (const { id } of backends) assert.ok(svg.includes(id));
});

test('backends and groups that only one side has are told and left out; a longer Interval thins out', async () => {
  const [first] = backends;
  assert.ok(first !== undefined);
  const config = yaml
    .replace(`Address: '${first.address}'`, "Address: '10.9.9.9'")
    .replace('IntervalMilliseconds: 100', 'Interval: 1');
  const { group } = await run({ config });
  assert.deepEqual(group?.unknownBackends, [first.id]);
  assert.deepEqual(group.unrecordedBackends, [`10.9.9.9:${first.port}`]);
  assert.ok(group.evaluations > 5 && group.evaluations < 25, String(group.evaluations));
  assert.equal(group.backends.find(({ backend }) => backend === first.id)?.would.max, 0);
  const strange = await run({ config: yaml.replaceAll('llama', 'phi') });
  assert.equal(strange.exit, 64);
  assert.match(strange.err, /nothing to replay: .* FOLDER.fleet\.jsonl\.gz has mixtral, llama\n$/);
  const typo = await run({ group: 'lama' });
  assert.match(typo.err, /--group lama: not in the configuration, did you mean llama\?\n$/);
});

test('begun later: what had been learned is not known, and the first part is not counted', async () => {
  const [, ...lines] = gunzipSync(await readFile(recorded))
    .toString()
    .trimEnd()
    .split('\n');
  const groupsAt = lines.findIndex((line) => line.startsWith('{"kind":"groups"'));
  const { groups } = JSON.parse(lines[groupsAt] ?? '') as { groups: { evaluations: number }[] };
  const header = {
    kind: 'plimsoll samples',
    format: 1,
    version: '1',
    instance: 'other',
    startedAt: 0,
    now: 1000,
    nowMs: 0,
    groups: groups.map((group) => ({ ...group, evaluations: 20 })),
  };
  const later = lines.slice(groupsAt + 21).map((line) => line);
  const file = join(folder, 'later.gz');
  await writeFile(file, gzipSync([JSON.stringify(header), ...later, ''].join('\n')));
  const { group } = await run({ file });
  assert.ok((group?.warmUpEvaluations ?? 0) > 5);
  assert.ok((group?.evaluations ?? 0) > 20);
  // what is missing of the past moves weights; the configuration, which is the same, does not
  assert.ok((group?.baseline?.identicalEvaluations ?? 0) < (group?.evaluations ?? 0));
  assert.equal(group?.baseline?.changedIdenticalEvaluations, group?.evaluations);
  assert.ok(group !== undefined);
  const text = replayText([group], [], 80);
  assert.match(text, /saturated  as recorded  would be: share/);
  assert.match(text, /Between that and this configuration there is no difference\./);
  const strange = JSON.stringify({ ...header, groups: header.groups.map((of) => ({ ...of, balance: {} })) });
  await writeFile(file, gzipSync([strange, ...later, ''].join('\n')));
  assert.equal((await run({ file })).group?.baseline, null);
});

test('what is cut off, damaged or foreign: the good part with a warning, or a clear error', async () => {
  const bytes = await readFile(recorded);
  const whole = (await run({})).group?.evaluations ?? 0;
  const file = join(folder, 'bad.gz');
  await writeFile(file, bytes.subarray(0, Math.floor(bytes.length / 2)));
  const cut = await run({ file });
  assert.match(
    cut.warnings[0] ?? '',
    /cannot be read to its end: unexpected end of file; the part before is used/,
  );
  assert.ok((cut.group?.evaluations ?? 0) > 0 && (cut.group?.evaluations ?? 0) < whole);
  assert.equal(cut.group?.identicalEvaluations, cut.group?.evaluations);

  const damaged = Buffer.from(bytes);
  damaged.fill(0xff, Math.floor(bytes.length * 0.6), Math.floor(bytes.length * 0.6) + 64);
  await writeFile(file, damaged);
  const broken = await run({ file });
  assert.match(broken.warnings[0] ?? '', /cannot be read/);
  assert.ok((broken.group?.evaluations ?? 0) > 0);

  const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
  await writeFile(
    file,
    gzipSync(
      [...lines.slice(0, 30), '{"kind":"evaluation","group":"llama"}', 'null', '{"kind":"news"}'].join('\n'),
    ),
  );
  const odd = await run({ file });
  assert.match(odd.warnings.join(), /2 lines in it cannot be read, left out: number must be/);

  const foreign: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.from('hello'), /is no recording: it is not compressed with gzip/],
    [Buffer.alloc(0), /is no recording: it is not compressed with gzip/],
    [gzipSync(''), /is no recording: it is empty/],
    [gzipSync('{"a":1}\n'), /is no recording: a line is no JSON object with a kind/],
    [
      gzipSync(`${(lines[0] ?? '').replace('"format":1', '"format":2')}\n`),
      /is no recording: it has format 2, and this Plimsoll knows 1/,
    ],
    [gzipSync(`${lines[0] ?? ''}\n`), /has no evaluation/],
  ];
  for (const [content, expected] of foreign) {
    await writeFile(file, content);
    const { exit, err } = await run({ file });
    assert.equal(exit, 64);
    assert.match(err, expected);
  }
  const directory = await run({ file: folder });
  assert.deepEqual(
    [directory.exit, directory.err],
    [64, 'plimsoll replay: FOLDER is no recording: it is a directory\n'],
  );
  const absent = await run({ file: join(folder, 'absent') });
  assert.deepEqual(
    [absent.exit, absent.err],
    [1, 'plimsoll replay: FOLDER/absent cannot be read: there is no such file\n'],
  );
  assert.equal((await run({ config: 'Xds: 1\n' })).exit, 64);
});

test('nobody there, a file that is there, and a disk that is full', async () => {
  const server = await Scripted.start();
  try {
    const nowhere = join(folder, 'nowhere.gz');
    const silent = await recordInto(nowhere, { admin: 'http://127.0.0.1:9' });
    assert.equal(silent.exit, 1);
    assert.match(
      silent.err,
      /^plimsoll record: http:\/\/127\.0\.0\.1:9 cannot be recorded: .*ECONNREFUSED.*\. Plimsoll's Admin\.Listen goes into --admin URL\n$/,
    );
    await assert.rejects(stat(nowhere));
    const { mtimeMs } = await stat(recorded);
    const twice = await recordInto(recorded, { admin: server.origin });
    assert.deepEqual(
      [twice.exit, twice.err],
      [64, 'plimsoll record: FOLDER/fleet.jsonl.gz is there already: give another name\n'],
    );
    assert.equal((await stat(recorded)).mtimeMs, mtimeMs);
    const full = await recordInto('/dev/full', { admin: server.origin, seconds: 30 });
    assert.equal(full.exit, 1);
    assert.match(
      full.err,
      /\/dev\/full cannot be written any more: the disk is full; what it has so far is kept/,
    );
    const absent = await recordInto(join(folder, 'no', 'where.gz'), { admin: server.origin });
    assert.equal(absent.exit, 1);
    assert.match(absent.err, /cannot be written: its folder is not there/);
  } finally {
    server.stop();
  }
});

test('an address that says nothing until the time is over, or it is interrupted: no file, and no success', async () => {
  const mute = createNetServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const admin = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const file = join(folder, 'mute.gz');
  try {
    const overdue = recordInto(file, { admin, seconds: 0.2 });
    const interrupted = recordInto(file, { admin, signal: AbortSignal.timeout(200) });
    for (const { exit, out, err } of [await overdue, await interrupted]) {
      const reason = `plimsoll record: ${admin} told nothing by the end: nothing is recorded\n`;
      assert.deepEqual([exit, out, err], [1, '', reason]);
    }
    await assert.rejects(stat(file));
  } finally {
    mute.close();
  }
});

test('survives a restart of the control plane, with the gap noted, and ends when its time is over', async () => {
  const server = await Scripted.start();
  const file = join(folder, 'gap.gz');
  const ended = recordInto(file, { admin: server.origin, seconds: 2.5 });
  await waitFor('the recording', () => server.asked === 1);
  server.end();
  await waitFor('the second connection', () => server.asked === 2);
  const { exit, out, progress } = await ended;
  server.stop();
  assert.equal(exit, 0);
  assert.match(out, /^recorded 0:00:02: \d+ evaluations of 1 server group, 1 gap, \d+ kB in /);
  assert.match(progress, /^0:00:0\d of 0:00:02: /);
  const lines = gunzipSync(await readFile(file))
    .toString()
    .trimEnd()
    .split('\n');
  const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
  assert.equal(kinds[0], 'plimsoll samples');
  assert.equal(kinds.at(-1), 'end');
  const gap = kinds.indexOf('gap');
  assert.equal(kinds[gap + 1], 'plimsoll samples');
  assert.match(lines[gap] ?? '', /"reason":"the control plane ended the connection"/);
});

/** Tells the same evaluation again and again, to whoever asks. */
class Scripted {
  asked = 0;
  readonly #server = createServer((_request, response) => {
    this.asked++;
    const group = {
      name: 'llama',
      mode: 'Active',
      envoyLbPolicy: 'RoundRobin',
      intervalSeconds: 1,
      balance: {},
      backends: [{ id: '10.0.3.1:8000', weight: 100 }],
      evaluations: 0,
      published: null,
    };
    const header = { format: 1, version: '1', instance: `i${this.asked}`, startedAt: 0, now: 0, nowMs: 0 };
    response.write(`${JSON.stringify({ kind: 'plimsoll samples', ...header, groups: [group] })}\n`);
    const evaluation = { kind: 'evaluation', group: 'llama', number: 1, atMs: 5, collectionStartedAtMs: 1 };
    const timer = setInterval(() => {
      // what cannot be compressed fills a disk sooner
      const noise = Array.from({ length: 2000 }, Math.random);
      response.write(`${JSON.stringify({ ...evaluation, delaySeconds: 0.1, outcomes: [], noise })}\n`);
    }, 20);
    this.end = () => response.end();
    response.once('close', () => clearInterval(timer));
  });
  end = (): unknown => undefined;

  static async start(): Promise<Scripted> {
    const scripted = new Scripted();
    await new Promise<void>((resolve) => scripted.#server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
