import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Cleanups } from '../support/cleanups.ts';
import { DnsServer } from '../support/dns-server.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { freePort } from '../support/ports.ts';
import { configure, Voyage, type VoyageOptions } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

const NAME = 'vllm.inference.svc.cluster.test';
const backends = [1, 2, 3].map((last) => new GaugeBackend(`127.0.66.${last}`));
const [first, second, third] = backends as [GaugeBackend, GaugeBackend, GaugeBackend];
let dns: DnsServer;
let options: VoyageOptions;
let voyage: Voyage;
const cleanups = new Cleanups();

before(async () => {
  const port = await freePort();
  cleanups.add(() => Promise.all(backends.map((backend) => backend.stop())));
  await Promise.all(backends.map((backend) => backend.start(port)));
  dns = await cleanups.own(DnsServer.start(), (server) => server.stop());
  dns.addresses(NAME, [first.address, second.address]);
  options = {
    backends: [],
    group: 'DrainSeconds: 0.5',
    discovery: `Dns: {Name: ${NAME}, Port: ${port}, Resolvers: ['${dns.address}']}`,
  };
  voyage = await Voyage.start(options, cleanups);
});

after(() => cleanups.run());

/** Waits until Envoy holds these, all healthy, and nobody else. */
const untilHealthy = (...expected: readonly GaugeBackend[]) =>
  voyage.until(`${expected.length} backends`, (held) => {
    const isAll = expected.every(({ id }) => held.get(id)?.health === 'HEALTHY');
    return isAll && held.size === expected.length;
  });

const logged = (text: string): boolean => voyage.log.some((line) => line.includes(text));

test('requests follow the addresses of a name, and none fails on the way', async () => {
  await untilHealthy(first, second);
  await voyage.underLoad(async () => {
    dns.addresses(NAME, [first.address, third.address]);
    await untilHealthy(first, third);
  });
  const counts = await voyage.tally(40);
  assert.deepEqual([...counts.keys()].sort(), [first.id, third.id]);
});

test('nothing fails and nobody goes while DNS fails, nor when the name is gone', async () => {
  await voyage.underLoad(async () => {
    dns.always = { kind: 'code', code: 'SERVFAIL' };
    await waitFor('the failure', () => logged(`A of ${NAME}: ${dns.address}: SERVFAIL`));
    dns.always = undefined;
    dns.remove(NAME);
    await waitFor('the doubt', () => logged('lacks most of them'));
  });
  const held = await voyage.held();
  assert.deepEqual(
    [...held].map(([id, { health }]) => `${id} ${health}`).sort(),
    [first, third].map(({ id }) => `${id} HEALTHY`),
  );
});

test('ports and weights of SRV records', async () => {
  dns.addresses('a.test', [first.address]);
  dns.addresses('b.test', [second.address, third.address]);
  dns.services(`_http._tcp.${NAME}`, [
    { priority: 1, weight: 3000, port: first.port, target: 'a.test' },
    { priority: 1, weight: 2000, port: first.port, target: 'b.test' },
    { priority: 2, weight: 9000, port: 1, target: 'a.test' },
  ]);
  const discovery = `Dns: {Name: _http._tcp.${NAME}, Type: SRV, Resolvers: ['${dns.address}']}`;
  await voyage.underLoad(async () => {
    voyage.app.reload(configure({ ...options, discovery, loadAware: false }));
    await untilHealthy(...backends);
    await voyage.until('the weights', (held) =>
      [first, second, third].every(({ id }, index) => {
        return Math.abs((held.get(id)?.share ?? 0) - [0.6, 0.2, 0.2][index]!) < 1e-3;
      }),
    );
  });
});
