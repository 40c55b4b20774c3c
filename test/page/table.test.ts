import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { BackendRow, GroupState } from '../../src/admin/state-shape.ts';
import { columnOf, launchBrowser, openPage, type WatchedPage } from '../support/page-browser.ts';
import { ScriptedAdmin } from '../support/scripted-admin.ts';
import { healthyRow, NOW, scriptedGroup, scriptedState, scriptedTrends } from '../support/scripted-state.ts';
import { waitFor } from '../support/wait-for.ts';

const COUNT = 1000;
const UNHEALTHY: BackendRow = ['UNHEALTHY', 'saturated', 900, 0, 3, 44, 9, 0.9, 0.1, 'fresh', 0, null, null];

const large = scriptedGroup('llama', COUNT);
const group: GroupState = { ...large, rows: large.rows.map((row, i) => (i === 500 ? UNHEALTHY : row)) };
const small = scriptedGroup('outbound|8000||mistral', 3);
const state = scriptedState([group, small]);
const admin = new ScriptedAdmin({
  state,
  trends: (name) => [group, small].filter((of) => of.name === name).map(scriptedTrends)[0],
});
let url = '';
let browser: Browser;
let watched: WatchedPage;
let page: Page;

before(async () => {
  url = await admin.start();
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await admin.stop();
});
beforeEach(async () => {
  watched = await openPage(browser, url);
  page = watched.page;
});
afterEach(() => page.context().close());

const heading = (name: string) => page.locator('table.backends thead button', { hasText: name });
const first = async (name: string) => (await columnOf(page, name))[0];
const note = () => page.locator('.tools [role=status]').innerText();
const selected = () => page.locator('tr.row[aria-selected=true] > .backend').innerText();
/** Beside the table, so that its order is not held. */
const goAway = () => page.mouse.move(5, 5);

describe('a table of 1,000 backends', () => {
  test('has only the rows in sight, and all of them by scrolling', async () => {
    assert.equal(await page.locator('table.backends').getAttribute('aria-rowcount'), String(COUNT + 1));
    const seen = new Set<string>();
    const scroller = page.locator('.scroll.backends');
    const step =
      (await scroller.evaluate((of) => (of as unknown as { clientHeight: number }).clientHeight)) - 60;
    for (let row = 1; row <= COUNT; row += Math.floor(step / 26)) {
      await scroller.evaluate(
        (of, to) => {
          (of as unknown as { scrollTop: number }).scrollTop = to;
        },
        (row - 1) * 26,
      );
      // one that is not there before the scroll is seen to
      await page.locator(`#row-${Math.min(COUNT, row + Math.floor(step / 26))}`).waitFor();
      const ids = await columnOf(page, 'backend');
      assert.ok(ids.length < 80, `${ids.length} rows are there`);
      for (const id of ids) seen.add(id);
    }
    assert.equal(seen.size, COUNT);
    assert.deepEqual(watched.faults, []);
  });

  test('is sorted by what has the most requests, and by the column that is clicked, both ways', async () => {
    assert.equal(await first('backend'), '10.0.3.250:8000');
    await heading('Backend').click();
    assert.equal(await first('backend'), '10.0.0.1:8000');
    await heading('Backend').click();
    assert.equal(await first('backend'), '10.0.3.250:8000');
    await heading('Queued').click();
    assert.deepEqual([await first('backend'), await first('queued')], ['10.0.2.1:8000', '44']);
    const sorted = page.locator('table.backends th[aria-sort]');
    assert.deepEqual(
      [await sorted.innerText(), await sorted.getAttribute('aria-sort')],
      ['Queued', 'descending'],
    );
    await heading('Health').click();
    assert.equal(await first('health'), 'unhealthy');
  });

  test('is filtered by words, and by the states that there are', async () => {
    await page.locator('.tools input').fill('10.0.3. healthy');
    await waitFor('the filtered rows', async () => (await note()).startsWith('250 of 1,000 backends'));
    await page.locator('.tools input').fill('no such');
    await waitFor('no rows', async () => (await page.locator('tr.row').count()) === 0);
    await page.locator('.choice', { hasText: '1 unhealthy' }).click();
    assert.deepEqual(await columnOf(page, 'backend'), ['10.0.2.1:8000']);
    await page.locator('.choice', { hasText: '1 unhealthy' }).click();
    assert.match(await note(), /^1,000 backends/);
  });

  test('follows each change, and holds its order while somebody reads it', async () => {
    const busy: GroupState = {
      ...group,
      rows: group.rows.map((row, i) => (i === 7 ? healthyRow(5000, 6) : row)),
    };
    await heading('Running').hover();
    admin.change({ now: NOW + 1000, groups: [busy] });
    await waitFor('the new figure', async () =>
      (await page.locator('#figures').innerText()).includes('504,'),
    );
    assert.match(await note(), /the order is held/);
    assert.equal(await first('backend'), '10.0.3.250:8000');
    await goAway();
    await waitFor('the new order', async () => (await first('backend')) === '10.0.0.8:8000');
    assert.deepEqual([await first('running'), await first('queued')], ['5,000', '6']);
    admin.change({ now: NOW + 2000, groups: [group] });
  });

  test('closes a row whose backend is gone', async () => {
    await page.locator('tr.row').first().click();
    await page.locator('tr.detail').waitFor();
    const { backends, rows } = group;
    const fewer = { ...group, membership: 2, backends: backends.slice(0, 10), rows: rows.slice(0, 10) };
    admin.script = { ...admin.script, state: scriptedState([fewer, small]) };
    admin.tellState();
    await page.locator('tr.detail').waitFor({ state: 'detached' });
    assert.match(await note(), /^10 backends/);
    admin.script = { ...admin.script, state };
  });

  test('draws the trends of each row', async () => {
    const line = page.locator('tr.row .spark path.running').first();
    await waitFor('a trend line', async () => /^M0 \d/.test((await line.getAttribute('d')) ?? ''));
  });

  test('draws four charts of the last 15 minutes, and tells their values', async () => {
    assert.equal(await page.locator('#charts canvas').count(), 4);
    const label = await page.locator('#charts [role=img]').first().getAttribute('aria-label');
    assert.match(label ?? '', /^Requests, the last 15 minutes\. Now: running [\d,]+, queued \d+$/);
  });
});

describe('keys', () => {
  test('filter, move, open and close', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('10.0.1.');
    await waitFor('the filtered rows', async () => (await note()).startsWith('250 of'));
    await page.keyboard.press('Enter');
    assert.equal(await selected(), '10.0.1.250:8000');
    await page.keyboard.press('j');
    await page.keyboard.press('ArrowDown');
    assert.equal(await selected(), '10.0.1.248:8000');
    await page.keyboard.press('k');
    assert.equal(await selected(), '10.0.1.249:8000');
    const active = await page.locator('table.backends').getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`#${active} > .backend`).innerText(), '10.0.1.249:8000');
    await page.keyboard.press('Enter');
    await page.locator('tr.detail').waitFor();
    assert.equal(await page.locator('tr.row[aria-expanded=true] > .backend').innerText(), '10.0.1.249:8000');
    await page.keyboard.press('Escape');
    await page.locator('tr.detail').waitFor({ state: 'detached' });
    assert.match(await note(), /^250 of/);
    await page.keyboard.press('Escape');
    assert.match(await note(), /^1,000 backends/);
  });

  test('go to the last row and back to the first, in sight', async () => {
    await page.keyboard.press('End');
    assert.equal(await selected(), '10.0.0.1:8000');
    assert.ok(await isInSight());
    await page.keyboard.press('Home');
    assert.equal(await selected(), '10.0.3.250:8000');
    assert.ok(await isInSight());
  });

  test('are explained', async () => {
    await page.keyboard.press('?');
    await page.locator('#help').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#help').waitFor({ state: 'hidden' });
    await page.locator('#help-button').click();
    await page.locator('#help button').click();
    await page.locator('#help').waitFor({ state: 'hidden' });
    assert.deepEqual(watched.faults, []);
  });
});

/** Whether the selected row is within the table's window, and not below its heading. */
async function isInSight(): Promise<boolean> {
  const [row, window] = await Promise.all([
    page.locator('tr.row[aria-selected=true]').boundingBox(),
    page.locator('.scroll.backends').boundingBox(),
  ]);
  assert.ok(row !== null && window !== null);
  return row.y >= window.y + 27 && row.y + row.height <= window.y + window.height + 1;
}

describe('several groups', () => {
  test('have a line each, and one is shown in full', async () => {
    const lines = page.locator('#overview tbody tr');
    assert.equal(await lines.count(), 2);
    await page.locator('#overview button', { hasText: small.name }).click();
    await waitFor('its backends', async () => (await columnOf(page, 'backend')).length === 3);
    assert.equal(await page.locator('#group-name').innerText(), small.name);
    await page.reload();
    await waitFor('its backends', async () => (await columnOf(page, 'backend')).length === 3);
    await page.goBack();
    await waitFor('the other backends', async () => (await columnOf(page, 'backend')).length > 3);
  });
});

describe('a narrow page', () => {
  test('is as wide as the window, with the columns that matter', async () => {
    for (const width of [1280, 800]) {
      await page.setViewportSize({ width, height: 800 });
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
      assert.ok(wide <= width, `${wide} of ${width} pixels`);
      for (const name of ['backend', 'health', 'queued', 'running', 'kvCache', 'weight', 'share', 'why']) {
        assert.ok(await page.locator(`tr.row > .${name}`).first().isVisible(), `${name} at ${width}`);
      }
      const cut = await page.evaluate(
        `[...document.querySelectorAll('tr.row > .number, tr.row > .health')].filter((of) => of.offsetWidth > 0 && of.scrollWidth > of.clientWidth).map((of) => of.textContent)`,
      );
      assert.deepEqual(cut, [], `cut at ${width}`);
    }
  });
});
