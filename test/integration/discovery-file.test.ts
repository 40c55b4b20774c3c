import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { request } from 'undici';
import type { State } from '../../src/admin/state-shape.ts';
import { Cleanups } from '../support/cleanups.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { startBackends, Voyage } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const DRAIN_SECONDS = 3;

describe('backends in a file, that come and go under load', () => {
  const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.83.${last}`));
  const [first, second, third] = backends as [GaugeBackend, GaugeBackend, GaugeBackend];
  let folder: string;
  let voyage: Voyage;
  const cleanups = new Cleanups();

  const write = async (text: string): Promise<void> => {
    await writeFile(join(folder, 'new'), text);
    await rename(join(folder, 'new'), join(folder, 'backends.yaml'));
  };
  const list = (...of: readonly GaugeBackend[]): Promise<void> =>
    write(of.map(({ address, port }) => `- {Address: ${address}, Port: ${port}}\n`).join(''));
  const series = (name: string): Promise<number | undefined> =>
    voyage.metric(`plimsoll_discovery_${name}{server_group="llama"}`);

  before(async () => {
    const made = mkdtemp(join(tmpdir(), 'plimsoll-discovery-'));
    folder = await cleanups.own(made, (path) => rm(path, { recursive: true }));
    await startBackends(backends, cleanups);
    for (const backend of backends) backend.moving = true;
    let isUp = false;
    const starting = Voyage.start(
      {
        backends: [],
        discovery: `File: {Path: ${join(folder, 'backends.yaml')}}`,
        group: `DrainSeconds: ${DRAIN_SECONDS}`,
        // called when the control plane runs, before there is an Envoy
        rewrite: (bootstrap) => {
          isUp = true;
          return bootstrap;
        },
      },
      cleanups,
    );
    await waitFor('the control plane', () => isUp);
    await list(first, second);
    voyage = await starting;
  });
  after(() => cleanups.run());

  test('the first list is published, and takes requests', async () => {
    assert.match(voyage.log.join(''), /nothing is published until it can/);
    await voyage.until('two backends', (held) => held.size === 2);
    assert.deepEqual([...(await voyage.tally(40)).keys()].toSorted(), [first.id, second.id]);
    assert.deepEqual(
      [await series('listed_backends'), await series('failing'), await series('waiting')],
      [2, 0, 0],
    );
  });

  test('one that joins begins with a tenth, and gets more', async () => {
    await voyage.underLoad(async () => {
      await list(first, second, third);
      const part = (held: Awaited<ReturnType<Voyage['held']>>): number =>
        (held.get(third.id)?.share ?? Number.NaN) / (held.get(first.id)?.share ?? Number.NaN);
      const joined = await voyage.until('the newcomer', (held) => held.has(third.id));
      assert.ok(part(joined) < 0.15, `it began with ${part(joined)}`);
      await voyage.until('more for the newcomer', (held) => part(held) > 0.15);
    });
  });

  test('one that leaves ends what it has begun, gets nothing new, and is gone after DrainSeconds', async () => {
    const held: ServerResponse[] = [];
    second.serve = (_request, response) => {
      held.push(response);
    };
    const long = voyage.send();
    const others = [long, ...Array.from({ length: 20 }, () => voyage.send())];
    await waitFor('a request that is under way', () => held.length > 0);
    await voyage.underLoad(async () => {
      // what comes meanwhile is held as well
      second.serve = undefined;
      await list(first, third);
      await voyage.until('DRAINING', (of) => of.get(second.id)?.health === 'DRAINING');
      const hits = second.hits;
      const counts = await voyage.tally(100);
      assert.equal(counts.get(second.id), undefined);
      assert.equal(second.hits, hits);
      assert.equal(await series('draining_backends'), 1);
      const { groups } = (await (await request(`${voyage.admin}/state`)).body.json()) as State;
      assert.deepEqual(
        groups[0]?.discovery?.draining.shown.map(([id]) => id),
        [second.id],
      );
      for (const response of held) response.writeHead(200, { 'x-backend': second.id }).end();
      const answers = await Promise.all(others);
      assert.ok(answers.every(({ status }) => status === 200));
      assert.ok(answers.some(({ backend }) => backend === second.id));
      await voyage.until('its end', (of) => !of.has(second.id));
    });
  });

  test('an empty list is doubted, a broken one refused: nothing fails, nothing changes', async () => {
    await voyage.underLoad(async () => {
      await write('[]');
      await waitFor('the doubt', async () => (await series('doubted_backends')) === 2);
      await write('- {Address: 127.0.83.1, Po');
      await waitFor('the failure', async () => (await series('failing')) === 1);
      assert.ok(Number(await series('failures_total')) > 0);
      const { groups } = (await (await request(`${voyage.admin}/state`)).body.json()) as State;
      assert.match(groups[0]?.discovery?.failing?.reason ?? '', /backends\.yaml:1:\d+: /);
      assert.ok((groups[0]?.warnings.length ?? 0) >= 2);
      const held = await voyage.held();
      assert.deepEqual(
        [...held].map(([id, { health }]) => [id, health]),
        [first, third].map(({ id }) => [id, 'HEALTHY']),
      );
      await list(first, third);
      await waitFor('the end of it', async () => (await series('doubted_backends')) === 0);
      assert.equal(await series('failing'), 0);
    });
  });
});
