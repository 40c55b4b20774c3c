import type { AdminAccess } from './admin-access.ts';
import { adminStream } from './admin-stream.ts';
import { LineSplitter } from './line-splitter.ts';

/** More than the longest Interval. */
const SILENT_MS = 75_000;

/**
 * The lines of `/samples`, until the server ends them or `signal` aborts.
 * @throws Error with a reason when it cannot be asked, or breaks off.
 */
export async function* sampleLines(
  access: AdminAccess,
  signal: AbortSignal,
  silentMs = SILENT_MS,
): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  const unavailable = 'it is being recorded by too many already';
  for await (const text of adminStream(access, { path: '/samples', signal, silentMs, unavailable })) {
    yield* splitter.push(text);
  }
}
