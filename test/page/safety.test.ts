import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { request } from 'undici';
import type { BackendRow } from '../../src/admin/state-shape.ts';
import { ControlPlane } from '../../src/demo/control-plane.ts';
import { GaugeBackend } from '../support/gauge-backend.ts';
import { launchBrowser, openPage } from '../support/page-browser.ts';
import { ScriptedAdmin } from '../support/scripted-admin.ts';
import { NOW, scriptedGroup, scriptedSidecar, scriptedState } from '../support/scripted-state.ts';
import { yamlOf } from '../support/voyage.ts';
import { waitFor } from '../support/wait-for.ts';

/** Each place with a text of its own, so that all can be looked for. */
const evil = (place: string): string =>
  `${place}"><img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">{{7*7}}`;

const row: BackendRow = [
  'UNHEALTHY',
  evil('why'),
  9,
  0,
  1,
  14,
  60,
  0.5,
  0.1,
  'fresh',
  2,
  evil('failure'),
  NOW - 900,
];
const group = scriptedGroup(evil('group'), 1, {
  backends: [[evil('backend'), 100]],
  rows: [row],
  warnings: [{ text: evil('warning'), remedy: evil('remedy') }],
});
const hostile = scriptedState([group, scriptedGroup('llama', 20)], {
  build: { version: evil('version'), node: 'v20' },
  warnings: [{ text: evil('all'), remedy: evil('mend') }],
  sidecars: {
    total: 1,
    streams: 1,
    behind: 1,
    refusing: 1,
    gone: [
      {
        node: evil('gone'),
        cluster: evil('gone cluster'),
        identity: evil('gone identity'),
        peer: evil('gone peer'),
        at: NOW - 20_000,
        behindSince: NOW - 42_000,
      },
    ],
    shown: [
      scriptedSidecar(evil('node'), {
        identity: evil('identity'),
        peer: evil('peer'),
        streams: [evil('streams')],
        groups: [{ name: evil('followed'), version: evil('acked'), behindSince: 0 }],
        nack: { at: NOW, type: evil('type'), names: evil('names'), reason: evil('reason') },
      }),
    ],
  },
  configuration: {
    file: evil('file'),
    yaml: evil('yaml'),
    inForceSince: NOW,
    reloads: [
      { at: NOW, because: 'file', outcome: 'refused', mistakes: [evil('mistake')], moreMistakes: 3 },
      { at: NOW, because: 'signal', outcome: 'taken', changes: [evil('changed')] },
    ],
  },
});
const SHOWN =
  `why group backend warning remedy all mend version node identity peer streams followed type reason file
  yaml mistake changed`
    .trim()
    .split(/\s+/);

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser?.close());

describe('what comes from outside', () => {
  test('is text wherever it stands, and does nothing', async (t) => {
    const admin = new ScriptedAdmin({ state: hostile });
    const url = await admin.start();
    t.after(() => admin.stop());
    const { page, faults } = await openPage(browser, url);
    await page.locator('tr.row').click();
    await page.locator('#configuration summary').click();
    await page.locator('#overview button').first().click();
    const text = String(await page.evaluate('document.body.textContent'));
    // a version is cut before it is shown
    assert.deepEqual(
      SHOWN.filter((place) => !text.includes(evil(place))),
      [],
    );
    assert.equal(await page.evaluate(`document.querySelectorAll('main img, main script, main a').length`), 0);
    assert.deepEqual(faults, []);
  });

  test('could not run even if it became markup: nothing inline, nothing from elsewhere', async (t) => {
    const admin = new ScriptedAdmin({ state: hostile });
    const url = await admin.start();
    t.after(() => admin.stop());
    const policy = String((await request(url)).headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:|data:/);
    const { page, faults } = await openPage(browser, url);
    const made = await page.evaluate(`(() => {
      try { document.body.innerHTML = '<img src=x onerror=alert(1)>'; return 'made'; } catch (error) { return error.name; }
    })()`);
    assert.equal(made, 'TypeError');
    await page.evaluate(`(() => {
      const script = document.createElement('style');
      script.textContent = 'body { display: none }';
      document.head.append(script);
    })()`);
    await waitFor('the violations', () => faults.some((fault) => fault.startsWith('violation: style-src')));
    assert.equal(await page.locator('body').isVisible(), true);
  });
});

describe('colours', () => {
  const backgroundOf = (page: Page) =>
    page.evaluate('getComputedStyle(document.documentElement).backgroundColor');

  test('are dark or light as the system has it, or as the switch says, also after a reload', async (t) => {
    const admin = new ScriptedAdmin({ state: scriptedState([scriptedGroup('llama', 3)]) });
    const url = await admin.start();
    t.after(() => admin.stop());
    const { page, faults } = await openPage(browser, url, { colorScheme: 'dark' });
    const dark = await backgroundOf(page);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await backgroundOf(page);
    assert.notEqual(dark, light);
    const button = page.locator('#theme');
    await button.click();
    await button.click();
    assert.deepEqual([await button.innerText(), await backgroundOf(page)], ['Theme: dark', dark]);
    await page.reload();
    await page.locator('tr.row').first().waitFor();
    assert.equal(await backgroundOf(page), dark);
    assert.deepEqual(faults, []);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`have enough contrast for every text, ${colorScheme}`, async (t) => {
      const admin = new ScriptedAdmin({ state: hostile });
      const url = await admin.start();
      t.after(() => admin.stop());
      const { page } = await openPage(browser, url, { colorScheme });
      await page.locator('tr.row').click();
      assert.deepEqual(await page.evaluate(FAINT_TEXTS), []);
    });
  }
});

/** Texts whose contrast (WCAG 2) is below 4.5. */
const FAINT_TEXTS = `(() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const [r, g, b] = parse(color).map((value) => value / 255).map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backgroundOf = (of) => {
    for (let at = of; at !== null; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (parse(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const own = (of) => [...of.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
  return [...document.querySelectorAll('body *')]
    .filter((of) => own(of) && of.checkVisibility())
    .map((of) => {
      const [one, other] = [light(getComputedStyle(of).color), light(backgroundOf(of))].sort((a, b) => b - a);
      return [(one + 0.05) / (other + 0.05), of.className + ' ' + of.textContent.slice(0, 30)];
    })
    .filter(([ratio]) => ratio < 4.5)
    .map(([ratio, what]) => ratio.toFixed(2) + ' ' + what);
})()`;

describe('an admin address with a token', () => {
  test('shows the page to who gives it to the browser, and nothing to others', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'plimsoll-page-'));
    const backend = new GaugeBackend('127.0.97.9');
    await backend.start();
    const [config, tokenFile] = [join(folder, 'plimsoll.yaml'), join(folder, 'token')];
    await writeFile(tokenFile, 'a-token-of-at-least-sixteen-characters\n', { mode: 0o600 });
    const yaml = yamlOf({ backends: [backend] });
    const secured = yaml.replace('Admin: {', `Admin: {BearerTokenFile: ${tokenFile}, `);
    await writeFile(config, `Log: {Format: json}\n${secured}`);
    const plane = await ControlPlane.start({ config });
    t.after(async () => {
      await plane.stop();
      await backend.stop();
      await rm(folder, { recursive: true });
    });
    const url = `http://${plane.admin}/`;
    assert.equal((await request(url)).statusCode, 401);
    const httpCredentials = { username: 'operator', password: 'a-token-of-at-least-sixteen-characters' };
    const { page, faults } = await openPage(browser, url, { httpCredentials });
    await waitFor('the backend', async () => (await page.locator('tr.row').innerText()).includes(backend.id));
    await page.locator('tr.row').click();
    await page.locator('.reasons .product', { hasText: 'weight 100,000' }).waitFor();
    assert.deepEqual(faults, []);
  });
});
