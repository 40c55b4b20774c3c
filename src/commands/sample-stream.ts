import { StringDecoder } from 'node:string_decoder';
import type { AdminAccess } from './admin-access.ts';
import { openAdmin } from './ask-admin.ts';
import { LineSplitter } from './line-splitter.ts';

/** Silence after which a connection counts as lost: more than the longest Interval. */
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
  const silence = new AbortController();
  const late = setTimeout(() => {
    silence.abort(new Error(`nothing was told for ${silentMs / 1000} s`));
  }, silentMs);
  try {
    const response = await openAdmin(access, '/samples', AbortSignal.any([signal, silence.signal]));
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`it answered ${response.statusCode}${hintFor(response.statusCode)}`);
    }
    const decoder = new StringDecoder('utf8');
    const splitter = new LineSplitter();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      late.refresh();
      yield* splitter.push(decoder.write(chunk));
    }
  } catch (error) {
    if (silence.signal.aborted) throw silence.signal.reason;
    throw error;
  } finally {
    clearTimeout(late);
  }
}

function hintFor(status: number | undefined): string {
  if (status === 401) return ': it needs --bearer-token-file';
  if (status === 503) return ': it is being recorded by too many already';
  return status === 404 ? ": that is not Plimsoll's admin address, or an older one" : '';
}
