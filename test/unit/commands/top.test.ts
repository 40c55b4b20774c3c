import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { LiveState } from '../../../src/admin/live-state.ts';
import type { AdminServer } from '../../../src/admin/server.ts';
import { top } from '../../../src/commands/top.ts';
import type { GroupDecision } from '../../../src/core/model/decision.ts';
import type { GroupStatus } from '../../../src/core/model/group-status.ts';
import { systemClock, unixMs } from '../../../src/runtime/clock.ts';
import { adminServer } from '../../support/admin-server.ts';
import { adminSettings } from '../../support/configuration.ts';
import { FakeTerminal } from '../../support/fake-terminal.ts';
import { type Answer, Fleet, loadAwareGroup } from '../../support/fleet.ts';
import { freePort } from '../../support/ports.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A control plane with one group of so many backends, without a collector: it is evaluated when the test says so. */
class Plane {
  readonly state: LiveState;
  readonly server: AdminServer;
  readonly #fleet: Fleet;
  #status: GroupStatus | undefined;

  constructor(backends: number, port: number) {
    this.#fleet = new Fleet(backends);
    this.state = new LiveState({
      version: '1.2.3',
      file: 'plimsoll.yaml',
      ready: () => true,
      status: () => this.#status,
      now: () => systemClock.now(),
      unixMs,
    });
    this.state.configure([loadAwareGroup(this.#fleet.servers)]);
    this.server = adminServer({ state: this.state, settings: adminSettings(port) });
  }

  evaluate(answers: readonly Answer[]): GroupDecision {
    const stepped = this.#fleet.step(answers);
    const decision = Object.defineProperties(
      {},
      {
        ...Object.getOwnPropertyDescriptors(stepped),
        atMs: { value: systemClock.now(), enumerable: true },
      },
    ) as GroupDecision;
    const published = {
      decision,
      version: 'c0ffee'.repeat(4),
      atMs: decision.atMs,
      firstAcknowledgedAtMs: undefined,
    };
    this.#status = { newest: decision, published, streams: { following: 2, current: 1 } };
    this.state.published('llama', published.version);
    this.state.evaluated(decision);
    return decision;
  }
}

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function plane(backends: number, port?: number): Promise<Plane> {
  const made = new Plane(backends, port ?? (await freePort()));
  await made.server.listen();
  ended.push(() => made.server.stop());
  return made;
}

function show(
  port: number,
  terminal: FakeTerminal | undefined,
  flags: { once?: boolean; json?: boolean; color?: boolean } = {},
) {
  const stop = new AbortController();
  let out = '';
  let err = '';
  const admin = `http://127.0.0.1:${port}`;
  const exit = top(
    { admin, once: false, json: false, color: false, ...flags },
    {
      out: (text) => (out += text),
      err: (text) => (err += text),
      terminal: terminal && { output: terminal, input: terminal.input },
      signal: stop.signal,
    },
  );
  ended.push(() => {
    stop.abort();
    return exit;
  });
  return { exit, output: () => ({ out, err: err.replace(admin, 'ADMIN') }) };
}

const LOADS: readonly Answer[] = [
  { running: 4, queued: 0, kvUtilization: 0.1 },
  { running: 20, queued: 2, kvUtilization: 0.5 },
  { running: 60, queued: 40, kvUtilization: 0.99 },
];

test('live: the most loaded on top, sorts and filters by keys, q leaves the screen as it was', async () => {
  const port = await freePort();
  const { evaluate } = await started(port, 3);
  evaluate(LOADS);
  const terminal = new FakeTerminal(200);
  const { exit } = show(port, terminal);
  await waitFor('the table', () => terminal.text.includes('10.0.3.3:8000'));
  const ids = (): readonly string[] =>
    terminal.lines.flatMap((line) => /^10\.0\.3\.\d+/.exec(line)?.[0] ?? []);
  assert.deepEqual(ids(), ['10.0.3.3', '10.0.3.2', '10.0.3.1']);
  assert.match(
    terminal.text,
    /^llama: weights follow the load {3}3 backends: 2 healthy, 1 saturated {3}42 queued, 84 running$/m,
  );
  assert.match(terminal.text, /INSIDE↓/);
  assert.match(
    terminal.text,
    /^10\.0\.3\.3:8000 +unhealthy +0\.0 % +100 +40 +60 +99 % .*saturated: 40 queued/m,
  );
  assert.equal(terminal.lines.length, 24);

  terminal.press('r');
  await waitFor('the other way round', () => ids()[0] === '10.0.3.1');
  terminal.press('/', '3', '.', '3', '\r');
  await waitFor('the filter', () => ids().length === 1);
  assert.match(terminal.text, /filter: 3\.3/);
  terminal.press('w');
  await waitFor('the warnings', () => terminal.text.includes('no warnings'));
  terminal.press('?');
  await waitFor('the help', () => terminal.text.includes('tab, shift-tab'));
  terminal.press('q');
  assert.equal(await exit, 0);
  assert.ok(
    terminal.written.startsWith('\u001b[?1049h') && terminal.written.endsWith('\u001b[?25h\u001b[?1049l'),
  );
  assert.deepEqual(terminal.raw, [true, false]);
  assert.equal(terminal.listenerCount('resize') + terminal.input.listenerCount('keypress'), 0);
});

async function started(port: number, backends: number) {
  const made = await plane(backends, port);
  return { made, evaluate: (answers: readonly Answer[]) => made.evaluate(answers) };
}

test('a narrow and low terminal: columns make room, lines are cut, the rest is a scroll away', async () => {
  const port = await freePort();
  const { evaluate } = await started(port, 50);
  evaluate(Array.from({ length: 50 }, (_, index) => ({ running: index })));
  const terminal = new FakeTerminal(40, 12);
  show(port, terminal);
  await waitFor('the table', () => terminal.text.includes('10.0.3.50:8000'));
  for (const [columns, rows] of [
    [40, 12],
    [20, 8],
    [1, 1],
    [200, 60],
  ] as const) {
    terminal.resize(columns, rows);
    assert.equal(terminal.lines.length, rows);
    for (const line of terminal.lines) assert.ok(Array.from(line).length <= columns, `${columns}: ${line}`);
  }
  assert.match(terminal.text, /BACKEND +HEALTH +SHARE +INSIDE↓ +QUEUED +RUNNING +KV +WEIGHT +SCORE +AGE/);
  terminal.resize(20, 5);
  assert.match(terminal.text, /^plimsoll.*\nBACKEND.*\n10\.0\.3\.50:8000.*\n10\.0\.3\.49:8000/);
  terminal.resize(60, 12);
  assert.match(terminal.text, /BACKEND +HEALTH +SHARE +INSIDE↓ +QUEUED +KV$/m);
  assert.doesNotMatch(terminal.text, /10\.0\.3\.1:8000/);
  terminal.press(...Array<string>(12).fill('\u001b[6~'));
  await waitFor('the last one', () => terminal.text.includes('10.0.3.1:8000 '));
});

test('warnings with what to do, on as many lines as they need', async () => {
  const port = await freePort();
  const { evaluate } = await started(port, 2);
  for (let i = 0; i < 5; i++) evaluate([{ running: i }, 'refused']);
  const terminal = new FakeTerminal(60, 20);
  show(port, terminal);
  await waitFor('the warning', () => terminal.text.includes('! llama:'));
  terminal.press('w');
  await waitFor('what to do', () => terminal.text.includes('Nothing listens there'));
  const words = terminal.lines.map((line) => line.trim()).join(' ');
  assert.match(words, /! llama: 10\.0\.3\.2:8000 has never given metrics: refused/);
  assert.match(
    words,
    /Nothing listens there: look whether the engine runs, and whether Address and Port are its\./,
  );
});

test('the server is started anew: that is said, and it goes on', async () => {
  const port = await freePort();
  const { made, evaluate } = await started(port, 3);
  evaluate(LOADS);
  const terminal = new FakeTerminal();
  show(port, terminal);
  await waitFor('the table', () => terminal.text.includes('10.0.3.3:8000'));
  ended.splice(0, 1);
  await made.server.stop();
  await waitFor('the loss', () => /^No connection to http.*trying again/m.test(terminal.text));
  assert.match(terminal.text, /Below is what was known/);
  assert.match(terminal.text, /10\.0\.3\.3:8000/);
  const second = await started(port, 2);
  second.evaluate([{ running: 7 }, { running: 9 }]);
  await waitFor('the new one', () => terminal.text.includes('started anew'));
  assert.match(terminal.text, /2 backends: 2 healthy/);
  assert.doesNotMatch(terminal.text, /No connection/);
});

test('nothing that the server says reaches the terminal unescaped, in any form', async () => {
  const bad = '\u001b[2J\u202eevil\r\n\u009b31m';
  const { sidecars, configuration } = (await plane(1)).state;
  const port = await freePort();
  const { made } = await started(port, 2);
  made.evaluate([{ running: 1 }, 'status']);
  const stream = {};
  made.state.sidecars.joined(stream, {
    node: bad,
    cluster: bad,
    zone: bad,
    identity: bad,
    peer: '10.0.0.1:1',
    kind: 'ads',
  });
  made.state.sidecars.rejected(stream, bad, bad, bad);
  made.state.configuration.taken('signal', `a: ${bad}\nb: 2\n`, [bad]);
  assert.ok(sidecars.isEmpty && configuration.state.reloads.length === 0);
  const terminal = new FakeTerminal();
  show(port, terminal);
  await waitFor('a warning', () => terminal.text.includes('evil'));
  for (const key of ['s', 'w', 'b']) terminal.press(key);
  await waitFor('the backends', () => terminal.text.includes('BACKEND'));
  const visible = terminal.written.replaceAll(/\u001b\[(\?\d+[hl]|[HK])/g, '').replaceAll('\r\n', '');
  assert.doesNotMatch(visible, /[\u0000-\u001f\u007f-\u009f\u202e]/);
  for (const json of [false, true]) {
    const { exit, output } = show(port, undefined, { once: true, json });
    assert.equal(await exit, 0);
    assert.match(output().out, /evil/);
    assert.doesNotMatch(output().out.replaceAll('\n', ''), /[\u0000-\u001f\u007f-\u009f\u202e]/);
  }
});

test('without a terminal it is printed once: as text, and as JSON with names for all', async () => {
  const port = await freePort();
  const { evaluate } = await started(port, 3);
  evaluate(LOADS);
  const text = show(port, undefined);
  assert.equal(await text.exit, 0);
  assert.match(text.output().out, /^plimsoll 1\.2\.3, up .*1 server group {3}0 sidecars/);
  assert.match(text.output().out, /^10\.0\.3\.3:8000 +unhealthy/m);
  assert.match(text.output().out, /^no sidecar is connected$/m);
  const json = show(port, undefined, { json: true });
  assert.equal(await json.exit, 0);
  const { groups } = JSON.parse(json.output().out) as { groups: { name: string; backends: object[] }[] };
  assert.equal(groups[0]?.name, 'llama');
  const {
    share: _,
    weight: __,
    score: ___,
    sampleAgeSeconds: ____,
    ...third
  } = (groups[0]?.backends[2] ?? {}) as Record<string, unknown>;
  assert.deepEqual(third, {
    id: '10.0.3.3:8000',
    configuredWeight: 100,
    health: 'UNHEALTHY',
    why: third['why'],
    queued: 40,
    running: 60,
    kvCache: 0.99,
    use: 'fresh',
    missed: 0,
    failure: null,
    failedAt: null,
  });
});

test('nobody is there, or something else', async () => {
  const port = await freePort();
  const gone = show(port, undefined, { once: true });
  assert.equal(await gone.exit, 1);
  assert.match(gone.output().err, /^plimsoll top: ADMIN cannot be asked: .*ECONNREFUSED.*--admin URL\n$/);
  const other = createServer((_request, response) => response.end('{"groups": 1}'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  ended.push(() => new Promise((resolve) => other.close(resolve)));
  const { port: otherPort } = other.address() as AddressInfo;
  const wrong = show(otherPort, undefined, { once: true });
  assert.equal(await wrong.exit, 1);
  assert.match(wrong.output().err, /answered something else than a state \(build must be an object\)/);
  const terminal = new FakeTerminal();
  show(otherPort, terminal);
  await waitFor('why', () => terminal.text.includes('No connection to'));
});
