import { StringDecoder } from 'node:string_decoder';
import type { AdminAccess } from './admin-access.ts';
import { openAdmin } from './ask-admin.ts';

export interface AdminStreamOptions {
  /** Like `/events`. */
  readonly path: string;
  readonly signal: AbortSignal;
  /** Silence after which the connection counts as lost. */
  readonly silentMs: number;
  /** What an answer of 503 comes from; undefined: it is not explained. */
  readonly unavailable?: string;
}

/**
 * The text of an answer that goes on, as it comes, until the server ends it or `signal` aborts.
 * @throws Error with a reason when it cannot be asked, or breaks off.
 */
export async function* adminStream(
  access: AdminAccess,
  { path, signal, silentMs, unavailable }: AdminStreamOptions,
): AsyncGenerator<string> {
  const silence = new AbortController();
  const late = setTimeout(() => {
    silence.abort(new Error(`nothing was told for ${silentMs / 1000} s`));
  }, silentMs);
  try {
    const response = await openAdmin(access, path, AbortSignal.any([signal, silence.signal]));
    if (response.statusCode !== 200) {
      response.destroy();
      throw new Error(`it answered ${response.statusCode}${hintFor(response.statusCode, unavailable)}`);
    }
    const decoder = new StringDecoder('utf8');
    for await (const chunk of response as AsyncIterable<Buffer>) {
      late.refresh();
      yield decoder.write(chunk);
    }
  } catch (error) {
    if (silence.signal.aborted) throw silence.signal.reason;
    throw error;
  } finally {
    clearTimeout(late);
  }
}

function hintFor(status: number | undefined, unavailable: string | undefined): string {
  if (status === 401) return ': it needs --bearer-token-file';
  if (status === 503 && unavailable !== undefined) return `: ${unavailable}`;
  return status === 404 ? ": that is not Plimsoll's admin address, or an older one" : '';
}
