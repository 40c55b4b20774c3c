import { dirname } from 'node:path';
import { sleep, systemClock } from './clock.ts';
import { isReadableFolder } from './readable-folder.ts';

/** Beyond it a file is out of reach: one on a network file system may never be read to its end. */
const ANSWER_MS = 10_000;

/** What is being asked, by path: each question that hangs keeps a thread of the few that there are. */
const asked = new Map<string, Promise<void>>();

/**
 * What is asked of a file, if it answers within 10 s. Of one path one thing is asked after the other, and of a folder
 * that hangs nothing.
 * @throws Error when nothing comes, or what `ask` throws.
 */
export async function inTime<T>(path: string, ask: () => Promise<T>, answerMs = ANSWER_MS): Promise<T> {
  const wait = new AbortController();
  const limit = sleep(systemClock, answerMs, wait.signal).then(() => undefined);
  const silence = new Error(`nothing came for ${answerMs / 1000} s`);
  try {
    for (let before = asked.get(path); before !== undefined; before = asked.get(path)) {
      const first = await Promise.race([before.then(() => 'its turn'), limit]);
      if (first === undefined) throw silence;
    }
    const answer = isReadableFolder(dirname(path)).then(ask);
    const over = (): void => void asked.delete(path);
    asked.set(path, answer.then(over, over));
    const first = await Promise.race([answer.then((value) => ({ value })), limit]);
    if (first === undefined) throw silence;
    return first.value;
  } finally {
    wait.abort();
  }
}
