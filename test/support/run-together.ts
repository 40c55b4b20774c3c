import { describe } from 'node:test';

/**
 * Makes a suite of each test file, so that the hooks of a whole file are those of its suite. They are loaded one after the
 * other, and all before the first test runs, since loading keeps the processor from what waits for an answer.
 * @param files what imports each, by its path
 */
export function runTogether(files: Readonly<Record<string, () => Promise<unknown>>>): void {
  const loaded: Promise<unknown>[] = [];
  for (const [path, load] of Object.entries(files)) {
    describe(path, async () => {
      const before = loaded.at(-1);
      const loading = loadAfter(before, load);
      loaded.push(loading);
      await loading;
      await Promise.allSettled(loaded);
    });
  }
}

/** What is loaded before may have failed: that is told by its own suite. */
async function loadAfter(before: Promise<unknown> | undefined, load: () => Promise<unknown>): Promise<void> {
  await Promise.allSettled([before]);
  await load();
}
