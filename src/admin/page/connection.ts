/** How things stand between page and control plane. Times are Unix milliseconds by the browser's clock. */
export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'lost'; readonly since: number; readonly reason: string; readonly retryAt: number };

const RETRY_MS = [500, 1000, 2000, 5000] as const;

/** How long after so many attempts without success the next one comes. */
export function retryAfterMs(attempts: number): number {
  return RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1] ?? RETRY_MS[0];
}

/** What to tell of a connection that is lost. `clock` writes a time of day. */
export function lostWords(
  { since, reason, retryAt }: Extract<Connection, { kind: 'lost' }>,
  now: number,
  clock: (unixMs: number) => string,
): string {
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  const next = Math.max(0, Math.ceil((retryAt - now) / 1000));
  const again = next === 0 ? 'trying again now' : `trying again in ${next} s`;
  return `No connection to the control plane since ${clock(since)}, for ${seconds} s (${reason}); ${again}.`;
}
