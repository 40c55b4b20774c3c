/**
 * Codes of {@link PlimsollError}, a closed list.
 * - `usage`: bad arguments or configuration; exit code 64
 * - `io`: a file, socket or process could not be used
 * - `protocol`: a peer broke its protocol
 * - `internal`: a rule of our own does not hold; a bug
 */
export type ErrorCode = 'usage' | 'io' | 'protocol' | 'internal';

/** The one error class. The message names the thing, the rule and the value. */
export class PlimsollError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'PlimsollError';
    this.code = code;
  }
}

/** The message of anything thrown, for a log line or a wrapping message. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Exit codes of the commands. */
export const EXIT = { ok: 0, failed: 1, usage: 64 } as const;
