import type { IncomingMessage } from 'node:http';

/** How long a simulated completion is. */
export interface Lengths {
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** How long a completion is, and when besides its first token it is to give a sign. */
export interface WantedCompletion extends Lengths {
  /** A comment is written into the answer when this many tokens are generated. */
  readonly tellAtToken?: number;
}

/** Headers that say the lengths without a body of that length. */
export const PROMPT_TOKENS_HEADER = 'x-prompt-tokens';
export const OUTPUT_TOKENS_HEADER = 'x-output-tokens';
/** At this token the answer gives a sign of life: a client can leave half way. */
export const TELL_AT_TOKEN_HEADER = 'x-tell-at-token';

export type CompletionRequest =
  | { readonly kind: 'request'; readonly wanted: WantedCompletion }
  | { readonly kind: 'refused'; readonly reason: string };

const MOST_BYTES = 1024 * 1024;
const CHARACTERS_PER_TOKEN = 4;
/** `max_tokens` when the body does not say. */
const DEFAULT_OUTPUT_TOKENS = 16;

/**
 * Reads the lengths of a completion: from the headers `x-prompt-tokens` and `x-output-tokens` (integers of at least
 * 1), else from the JSON body's `prompt` (four characters are a token) and `max_tokens`.
 */
export async function readCompletionRequest(request: IncomingMessage): Promise<CompletionRequest> {
  const body = await readBody(request);
  if (body === undefined) return { kind: 'refused', reason: `the body is larger than ${MOST_BYTES} bytes` };
  const prompt = request.headers[PROMPT_TOKENS_HEADER];
  const output = request.headers[OUTPUT_TOKENS_HEADER];
  const fromBody = prompt === undefined || output === undefined ? parseBody(body) : undefined;
  const promptTokens = prompt === undefined ? fromBody?.promptTokens : Number(prompt);
  const outputTokens = output === undefined ? fromBody?.outputTokens : Number(output);
  if (!isLength(promptTokens) || !isLength(outputTokens)) {
    return { kind: 'refused', reason: 'the lengths of prompt and output must be integers of at least 1' };
  }
  const tellAt = Number(request.headers[TELL_AT_TOKEN_HEADER]);
  const wanted = { promptTokens, outputTokens, ...(isLength(tellAt) ? { tellAtToken: tellAt } : {}) };
  return { kind: 'request', wanted };
}

function isLength(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 1;
}

/** undefined: too large. A client that goes away ends it early; its answer reaches nobody. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString();
}

function parseBody(body: string): Lengths | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const { prompt = '', max_tokens: most = DEFAULT_OUTPUT_TOKENS } = parsed as Record<string, unknown>;
  if (typeof prompt !== 'string' || typeof most !== 'number') return undefined;
  return { promptTokens: Math.max(1, Math.ceil(prompt.length / CHARACTERS_PER_TOKEN)), outputTokens: most };
}
