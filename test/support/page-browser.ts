import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Long enough for a machine that is busy with other things. */
const TIMEOUT_MS = 90_000;
const TELL_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) => {
  reportViolation(event.violatedDirective + ' ' + event.blockedURI);
});`;

/** @throws when there is none: a test that needs a browser does not pass without one. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string {
  const named = env['CHROMIUM_BIN'];
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = named ? [named] : folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found !== undefined) return found;
  throw new Error('no Chromium: `apt-get install chromium`, or set CHROMIUM_BIN to one');
}

export function launchBrowser(): Promise<Browser> {
  // its sandbox does not work for root
  return chromium.launch({ executablePath: findChromium(), chromiumSandbox: process.getuid?.() !== 0 });
}

/** A page, and whatever it did that it must not. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors, messages on the console, violations of its Content-Security-Policy, requests to elsewhere. */
  readonly faults: readonly string[];
}

/**
 * Opens the page and waits until it shows backends.
 * @param url of another origin than which nothing may be asked
 */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // what Chromium itself says of a connection that is lost
    if (!message.text().startsWith('Failed to load resource')) faults.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`request: ${request.url()}`);
  });
  await page.exposeFunction('reportViolation', (text: string) => faults.push(`violation: ${text}`));
  await page.addInitScript({ content: TELL_VIOLATIONS });
  await page.goto(url);
  await page.locator('tr.row').first().waitFor();
  return { page, faults };
}

/** The texts of a column of the rows that are there, from above. */
export function columnOf(page: Page, name: string): Promise<readonly string[]> {
  return page.locator(`tr.row > .${name}`).allTextContents();
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
