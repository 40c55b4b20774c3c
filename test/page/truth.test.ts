import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { planArrivals } from '../../src/demo/arrivals.ts';
import { type SimulatedBackend, startBackends } from '../../src/demo/backend.ts';
import { ControlPlane, plimsollOutput } from '../../src/demo/control-plane.ts';
import { Envoy } from '../../src/demo/envoy.ts';
import { type LoadResult, runLoad } from '../../src/demo/load.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { columnOf, launchBrowser, openPage, type WatchedPage } from '../support/page-browser.ts';
import { freePorts } from '../support/ports.ts';
import { yamlOf } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** Simulated servers under load, one that is saturated, and one whose metrics page fails. */
const SIMULATED = 4;

const stop = new AbortController();
const saturated = new GaugeBackend('127.0.97.1');
const failing = new GaugeBackend('127.0.97.2');
let simulated: readonly SimulatedBackend[] = [];
let folder = '';
let config = '';
let plane: ControlPlane;
let envoy: Envoy;
let load: Promise<readonly LoadResult[]>;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

before(async () => {
  browser = await launchBrowser();
  folder = await mkdtemp(join(tmpdir(), 'plimsoll-page-'));
  config = join(folder, 'plimsoll.yaml');
  simulated = await startBackends(SIMULATED, (index) => ({ slowness: index === 0 ? 2 : 1 }));
  saturated.gauges = { queued: 20, running: 30, kv: 0.9, finished: 0 };
  saturated.moving = true;
  failing.metrics = (_request, response) => response.writeHead(500).end();
  for (const backend of [saturated, failing]) await backend.start();
  const [xds = 0, admin = 0, listener = 0] = await freePorts(3);
  await writeFile(config, yaml({ xds, admin, listener }));
  plane = await ControlPlane.start({ config });
  const options = `--mode ads --xds ${plane.xds} --admin-port 0 --node-id sidecar-1`.split(' ');
  const bootstrap = await plimsollOutput(['bootstrap', '--config', config, ...options], stop.signal);
  envoy = await Envoy.start({ bootstrap });
  await waitFor('the listener', () => envoy.listener('inference'));
  const arrivals = planArrivals({ seed: 7, ratePerSecond: 20, seconds: 280 });
  load = runLoad({ origin: `http://127.0.0.1:${listener}`, arrivals, signal: stop.signal });
  watched = await openPage(browser, `http://${plane.admin}/`);
  page = watched.page;
});

after(async () => {
  await browser?.close();
  stop.abort();
  await load;
  await envoy?.stop();
  await plane?.stop();
  await Promise.all([...simulated, saturated, failing].map((backend) => backend.stop()));
  await rm(folder, { recursive: true, force: true });
});

function yaml(ports: { readonly xds: number; readonly admin: number; readonly listener: number }): string {
  const backends = [...simulated, saturated, failing];
  return `Log: {Format: json}\n${yamlOf({ backends }, ports)}`;
}

/** `ADDRESS WEIGHT HEALTH` of each backend, as the page shows it, sorted. */
async function shown(): Promise<readonly string[]> {
  const [ids, weights, states] = await Promise.all(
    ['backend', 'weight', 'health'].map((name) => columnOf(page, name)),
  );
  const health = (state: string | undefined) => (state === 'silent' ? 'HEALTHY' : state?.toUpperCase());
  return (ids ?? [])
    .map((id, i) => `${id} ${weights?.[i]?.replaceAll(',', '')} ${health(states?.[i])}`)
    .toSorted();
}

/** The same, as Envoy holds it. */
async function held(): Promise<readonly string[]> {
  const hosts = (await envoy.clusters()).filter(({ cluster }) => cluster === 'llama');
  return hosts.map(({ address, weight, health }) => `${address} ${weight} ${health}`).toSorted();
}

/** The start of the version that Envoy has, as long as the page shows it. */
async function heldVersion(): Promise<string> {
  const stats = await envoy.get('/stats?filter=^cluster.llama.version_text$');
  return /version_text: "([^"]{8})/.exec(stats)?.[1] ?? assert.fail(stats);
}

const figure = (name: string) => page.locator('#figures div', { hasText: name }).locator('b').textContent();

describe('the page, with a real Envoy under load', () => {
  test('shows the weight and health of each backend as Envoy holds them, again and again', async () => {
    const versions = new Set<string>();
    for (let round = 0; round < 3; round++) {
      await waitFor(
        'the same weights and health in page and Envoy',
        async () => {
          const [here, there, version] = [await shown(), await held(), await heldVersion()];
          assert.deepEqual(here, there);
          if (versions.has(version) || (await figure('Version')) !== version) return false;
          versions.add(version);
          return true;
        },
        30_000,
      );
    }
    const rows = await shown();
    assert.equal(rows.length, SIMULATED + 2);
    assert.match(rows.find((row) => row.startsWith(saturated.id)) ?? '', /UNHEALTHY$/);
    assert.match(rows.find((row) => row.startsWith(failing.id)) ?? '', / HEALTHY$/);
  });

  test('says which sidecar follows, and with which version', async () => {
    const row = page.locator('table.sidecars tbody tr');
    assert.equal(await row.count(), 1);
    await waitFor('the version that Envoy has', async () => {
      const text = await row.innerText();
      return text.includes(`llama ${await heldVersion()}`) && /sidecar-1\s+current/.test(text);
    });
    assert.equal(await figure('Sidecars'), '1 of 1');
  });

  test('tells in words what is wrong, and what to do about it', async () => {
    const warning = page.locator('#warnings li', { hasText: failing.id });
    await warning.waitFor();
    assert.match(await warning.locator('.what').innerText(), /status 500/);
    assert.match(await warning.locator('.remedy').innerText(), /Path, Method and Host/);
  });

  test('opens a row to why the weight is what it is, as plimsoll explain says it', async () => {
    await page.locator(`tr.row[data-backend="${saturated.id}"]`).click();
    const reasons = page.locator('.reasons');
    await reasons.getByText('Saturated, no new requests').waitFor();
    const said = await reasons.locator('.arithmetic li').allTextContents();
    const explained = await plimsollOutput(
      ['explain', 'llama', saturated.id, '--admin', `http://${plane.admin}`],
      stop.signal,
    );
    const mark = said.find((sentence) => sentence.startsWith('Saturated')) ?? '';
    // how long ago its mark was set is another moment
    assert.ok(explained.includes(mark.split(',')[2] ?? '-'), `${mark}\n${explained}`);
    assert.match(await reasons.locator('.product').innerText(), /weight [\d,]+$/);
    await page.keyboard.press('Escape');
    await reasons.waitFor({ state: 'detached' });
  });

  test('shows what a reload changed, and a bad file without putting it in force', async () => {
    const good = await readFile(config, 'utf8');
    await writeFile(config, good.replace('Interval: 1', 'Interval: 99'));
    plane.reload();
    const reloads = page.locator('.reloads > li');
    await reloads.filter({ hasText: 'refused' }).filter({ hasText: 'Interval' }).first().waitFor();
    await writeFile(config, good.replace('Timeout: 1', 'Timeout: 2'));
    plane.reload();
    await reloads.filter({ hasText: 'Timeout' }).filter({ hasText: 'taken' }).first().waitFor();
    await page.locator('#configuration summary').click();
    assert.match(await page.locator('#configuration pre').innerText(), /Timeout: 2/);
  });

  test('says since when the control plane is gone, and goes on when it is back', async () => {
    await plane.kill();
    const lost = page.locator('#lost');
    await lost.waitFor();
    assert.match(
      await lost.innerText(),
      /No connection to the control plane since \d\d:\d\d:\d\d, for \d+ s/,
    );
    assert.match(await lost.innerText(), /Sidecars keep the last weights/);
    assert.deepEqual(await shown(), await held(), 'what was known stays, as with Envoy');
    plane = await ControlPlane.start({ config });
    await lost.waitFor({ state: 'hidden', timeout: 20_000 });
    await waitFor(
      'the same weights and health in page and Envoy',
      async () => {
        assert.deepEqual(await shown(), await held());
        return true;
      },
      30_000,
    );
  });

  test('has asked nobody else, and broken none of its own rules', () => {
    assert.deepEqual(watched.faults, []);
  });
});
