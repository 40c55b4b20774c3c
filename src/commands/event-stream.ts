import { StringDecoder } from 'node:string_decoder';
import { EventParser, type ServerEvent } from '../admin/page/event-parser.ts';
import type { AdminAccess } from './admin-access.ts';
import { openAdmin } from './ask-admin.ts';

/** Silence after which a connection counts as lost; the server says something each 5 s. */
const SILENT_MS = 15_000;
/** Characters of one event. Ten thousand backends have some 3 MB. */
const EVENT_MAX = 64 * 1024 * 1024;

/**
 * The events of `/events`, until the server ends them or `signal` aborts.
 * @throws Error with a reason when it cannot be asked, or breaks off.
 */
export async function* eventsOf(
  access: AdminAccess,
  signal: AbortSignal,
  silentMs = SILENT_MS,
): AsyncGenerator<ServerEvent> {
  const silence = new AbortController();
  const late = setTimeout(() => {
    silence.abort(new Error(`nothing was said for ${silentMs / 1000} s`));
  }, silentMs);
  try {
    const response = await openAdmin(access, '/events', AbortSignal.any([signal, silence.signal]));
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`it answered ${response.statusCode}${hintFor(response.statusCode)}`);
    }
    const decoder = new StringDecoder('utf8');
    const parser = new EventParser();
    let length = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      late.refresh();
      length += chunk.length;
      if (length > EVENT_MAX) throw new Error(`an event is longer than ${EVENT_MAX} bytes`);
      for (const event of parser.push(decoder.write(chunk))) {
        length = 0;
        yield event;
      }
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
  return status === 404 ? ": that is not Plimsoll's admin address, or an older one" : '';
}
