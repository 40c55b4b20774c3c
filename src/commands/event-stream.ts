import { EventParser, type ServerEvent } from '../admin/page/event-parser.ts';
import type { AdminAccess } from './admin-access.ts';
import { adminStream } from './admin-stream.ts';

/** The server says something each 5 s. */
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
  const parser = new EventParser();
  let length = 0;
  for await (const text of adminStream(access, { path: '/events', signal, silentMs })) {
    length += text.length;
    if (length > EVENT_MAX) throw new Error(`an event is longer than ${EVENT_MAX} characters`);
    for (const event of parser.push(text)) {
      length = 0;
      yield event;
    }
  }
}
