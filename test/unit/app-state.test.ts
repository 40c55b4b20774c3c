import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import type { SampleLine } from '../../src/admin/sample-shape.ts';
import type { State, Trends } from '../../src/admin/state-shape.ts';
import { App } from '../../src/app.ts';
import type { BoundAddresses } from '../../src/app/bound-addresses.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';
import { EventClient } from '../support/event-client.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { yamlOf } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';
import { XdsClient } from '../support/xds-client.ts';

const { endpoint: EDS } = TYPE_URLS;
const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.61.${last}`));
const [light, heavy, saturated] = backends as [GaugeBackend, GaugeBackend, GaugeBackend];
const log: string[] = [];
let app: App;
let bound: BoundAddresses;
let origin: string;
let events: EventClient;

function loaded(change: (yaml: string) => string = (yaml) => yaml) {
  const result = parseConfiguration(change(yamlOf({ backends })), 'plimsoll.yaml');
  if (result.kind === 'invalid') return assert.fail(JSON.stringify(result.mistakes));
  return result;
}

before(async () => {
  await Promise.all(backends.map((backend) => backend.start()));
  for (const backend of backends) backend.moving = true;
  light.gauges = { queued: 0, running: 4, kv: 0.1, finished: 0 };
  heavy.gauges = { queued: 9, running: 50, kv: 0.5, finished: 0 };
  saturated.gauges = { queued: 30, running: 40, kv: 0.9, finished: 0 };
  const { configuration, fields } = loaded();
  app = new App({
    configuration,
    source: { file: 'plimsoll.yaml', fields },
    clock: systemClock,
    log: pino({ base: null }, { write: (line) => log.push(line) }),
  });
  bound = await app.start();
  origin = `http://127.0.0.1:${bound.admin.port}`;
  events = new EventClient(origin);
});

after(async () => {
  events.close();
  await app.stop(AbortSignal.abort());
  await Promise.all(backends.map((backend) => backend.stop()));
});

async function getState(): Promise<State> {
  const { body, headers } = await request(`${origin}/state`);
  assert.match(String(headers['content-type']), /^application\/json/);
  return (await body.json()) as State;
}

/** What is known last: the second that goes on may have none yet. */
function newest(values: readonly (number | null)[]): number | null | undefined {
  return values.findLast((value) => value !== null);
}

test('rows, figures and history of a group, by /state as by /events', async () => {
  const told = await events.until('three samples, and shares by them', ({ groups: [group] }) => {
    const [first, second, third] = group?.rows ?? [];
    const isKnown = third?.[5] === 30 && (first?.[3] ?? 0) > (second?.[3] ?? 1);
    // what is told in the second of the first sample has no history yet
    return isKnown && newest(group?.history.series.queued ?? []) !== undefined;
  });
  for (const state of [told, await getState()]) {
    const [group] = state.groups;
    assert.ok(group !== undefined);
    assert.deepEqual(
      group.backends,
      backends.map(({ id }) => [id, 100]),
    );
    assert.deepEqual(
      group.rows.map((row) => [row[0], row[5], row[6], row[7], row[9]]),
      [
        ['HEALTHY', 0, 4, 0.1, 'fresh'],
        ['HEALTHY', 9, 50, 0.5, 'fresh'],
        ['UNHEALTHY', 30, 40, 0.9, 'fresh'],
      ],
    );
    const shares = group.rows.map((row) => row[3]);
    assert.ok((shares[0] ?? 0) > (shares[1] ?? 0) && shares[2] === 0, shares.join(', '));
    assert.match(group.rows[2]?.[1] ?? '', /saturated: 30 queued/);
    assert.equal(group.rows[0]?.[1], null);
    assert.equal(group.mode, 'balanced');
    assert.equal(group.policy, 'Adaptive');
    assert.match(group.published?.version ?? '', /^[0-9a-f]{20}$/);
    const { series, endAt } = group.history;
    assert.ok(endAt !== null && Math.abs(endAt - state.now) < 10_000);
    assert.equal(newest(series.queued), 39);
    assert.equal(newest(series.running), 94);
    assert.equal(newest(series.saturated), 1);
    assert.equal(state.configuration.file, 'plimsoll.yaml');
    assert.match(state.configuration.yaml, /ServerGroups:\n.*Name: llama/);
  }
  const trends = await waitFor(
    'trends that know something',
    async () => {
      const now = (await (await request(`${origin}/trends/llama`)).body.json()) as Trends;
      return now.inside.every((values) => newest(values) !== undefined) && now;
    },
    30_000,
  );
  assert.deepEqual(trends.inside.map(newest), [4, 59, 70]);
  assert.equal(trends.membership, told.groups[0]?.membership);
  assert.equal((await request(`${origin}/trends/lama`)).statusCode, 404);
});

test('a change of the load is told, and a backend that fails with what to do', async () => {
  heavy.metrics = (_request, response) => response.writeHead(500).end();
  light.gauges = { ...light.gauges, running: 5 };
  const state = await events.until('the failure', ({ groups: [group] }) =>
    Boolean(group?.warnings.some(({ text }) => text.includes('status 500'))),
  );
  const [group] = state.groups;
  assert.equal(group?.rows[0]?.[6], 5);
  const row = group?.rows[1];
  assert.deepEqual([row?.[10] !== 0, row?.[11]], [true, 'status 500']);
  assert.ok(Math.abs((row?.[12] ?? 0) - state.now) < 5000);
  const warning = group?.warnings.find(({ text }) => text.includes('status 500'));
  assert.match(warning?.text ?? '', new RegExp(`^${heavy.id} has had no metrics for .* s: status 500$`));
  assert.match(warning?.remedy ?? '', /Path/);
  heavy.metrics = undefined;
  const mended = await events.until(
    'the end',
    ({ groups: [of] }) => of?.warnings.every(({ text }) => !text.includes('status 500')) === true,
  );
  assert.equal(mended.groups[0]?.rows[1]?.[11], 'status 500', 'the last failure stays known');
});

test('sidecars: who they are, what they have, what they refused', async () => {
  const client = new XdsClient(bound.xds);
  const stream = client.open('eds', 'delta');
  stream.send({
    typeUrl: EDS,
    node: { id: 'side\u0007car', cluster: 'c' },
    resourceNamesSubscribe: ['llama'],
  });
  const first = await stream.next();
  stream.acknowledge(first);
  const state = await events.until('the acknowledgement', ({ sidecars }) =>
    Boolean(sidecars.shown[0]?.groups.length),
  );
  const { total, streams, behind, shown } = state.sidecars;
  assert.deepEqual([total, streams, behind], [1, 1, 0]);
  const [sidecar] = shown;
  assert.deepEqual(
    [sidecar?.node, sidecar?.cluster, sidecar?.identity, sidecar?.streams, sidecar?.nack],
    ['side\\u{7}car', 'c', '127.0.0.1', ['eds'], null],
  );
  assert.equal(sidecar?.groups[0]?.name, 'llama');
  assert.equal(sidecar?.groups[0]?.behindSince, null);

  saturated.gauges = { ...saturated.gauges, queued: 0 };
  stream.reject(await stream.next(), 'no\u001b[2J');
  const refusing = await events.until('the refusal', ({ sidecars }) => sidecars.shown[0]?.nack !== null);
  assert.deepEqual(
    [refusing.sidecars.shown[0]?.nack?.names, refusing.sidecars.shown[0]?.nack?.reason],
    ['llama', 'no\\u{1b}[2J'],
  );
  const [warning] = (await events.until('a warning', ({ warnings }) => warnings.length > 0)).warnings;
  assert.match(warning?.text ?? '', /^1 of 1 sidecars refuses what it is sent: no\\u\{1b\}\[2J$/);
  stream.cancel();
  client.close();
  await events.until('no sidecar', ({ sidecars }) => sidecars.total === 0);
});

test('a reload: what changed in words; a refused one is seen everywhere until the file is mended', async () => {
  const { configuration, fields } = loaded((yaml) => yaml.replace('Weight: 100}\n', 'Weight: 50}\n'));
  app.reload(configuration, 'file', fields);
  const change = `ServerGroups[llama].Servers[${light.id}].Weight: 100 → 50`;
  const state = await events.until('the reload', (of) => of.configuration.reloads.length === 2);
  assert.deepEqual(
    state.configuration.reloads.map((reload) => (reload.outcome === 'taken' ? reload.changes : 'refused')),
    [[change], []],
  );
  assert.match(
    state.configuration.yaml,
    new RegExp(`Address: ${light.address}, Port: ${light.port}, Weight: 50`),
  );
  assert.ok(log.some((line) => line.includes('configuration reloaded') && line.includes(change)));

  app.reloadRefused('file', ['plimsoll.yaml:1:1: Xds: is wrong', 'second']);
  const refused = await events.until('the refusal', (of) => of.configuration.reloads.length === 3);
  assert.match(refused.warnings[0]?.text ?? '', /is refused.*plimsoll\.yaml:1:1: Xds: is wrong and 1 more$/);
  const metrics = await (await request(`${origin}/metrics`)).body.text();
  assert.match(metrics, /^plimsoll_config_last_reload_successful 0$/m);
  assert.ok(log.some((line) => line.includes('reload refused') && line.includes('Xds: is wrong')));

  app.reload(configuration, 'signal', fields);
  await events.until('the end of the warning', ({ warnings }) => warnings.length === 0);
});

test('samples: a header, each evaluation with what it rests on, and the groups after a reload', async () => {
  const lines: SampleLine[] = [];
  const { body, headers } = await request(`${origin}/samples`);
  assert.equal(headers['content-type'], 'application/x-ndjson');
  let rest = '';
  body.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line) as SampleLine));
  });
  const evaluation = await waitFor('an evaluation', () => lines.find((line) => line.kind === 'evaluation'));
  const [header] = lines;
  assert.ok(header?.kind === 'plimsoll samples');
  assert.equal(header.groups[0]?.name, 'llama');
  assert.equal(header.groups[0]?.published?.endpoints.length, backends.length);
  assert.equal(evaluation.group, 'llama');
  assert.ok(evaluation.number > 1);
  const [[id, first] = []] = evaluation.outcomes;
  assert.ok(first?.kind === 'sample');
  assert.deepEqual(
    [id, first.sample.running, first.sample.kvUtilization],
    [light.id, light.gauges.running, light.gauges.kv],
  );
  assert.ok(evaluation.atMs >= first.atMs && first.atMs >= evaluation.collectionStartedAtMs);
  const { configuration, fields } = loaded();
  const [group] = configuration.serverGroups;
  assert.ok(group !== undefined && !header.groups.some(({ sharesBackends }) => sharesBackends));
  const serverGroups = [group, { ...group, name: 'twin' }];
  app.reload({ ...configuration, serverGroups }, 'signal', fields);
  await waitFor('the groups, which have backends in common', () =>
    lines.some(
      (line) => line.kind === 'groups' && line.groups.filter((of) => of.sharesBackends === true).length === 2,
    ),
  );
  body.destroy();
});

test('a change of the members is told as a whole', async () => {
  const wholes = events.names.filter((name) => name === 'state').length;
  const { configuration, fields } = loaded();
  const [group] = configuration.serverGroups;
  assert.ok(group !== undefined);
  app.reload(
    { ...configuration, serverGroups: [{ ...group, drainSeconds: 0.5, servers: group.servers.slice(0, 2) }] },
    'signal',
    fields,
  );
  await events.until('two backends', ({ groups: [of] }) => of?.rows.length === 2);
  assert.ok(events.names.filter((name) => name === 'state').length > wholes);
  assert.equal(events.state?.groups[0]?.backends.length, 2);
});

test('events come at most once a second, and the stream ends with the server', async () => {
  const before_ = events.names.length;
  const sinceMs = performance.now();
  await waitFor('three more', () => events.names.length >= before_ + 3);
  assert.ok(performance.now() - sinceMs > 1900);
});
