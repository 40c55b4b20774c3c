import type { XdsLimits } from '../core/model/configuration.ts';
import type { Connection } from './connection.ts';
import type { Refusal } from './refusal.ts';

/** A connection without a stream is of no use to anyone for longer. */
export const IDLE_MS = 60_000;

/** What a connection may owe: an Envoy with a hundred streams begins with 6 MB. */
const OWED_BYTES = 8 * 1024 * 1024;

/** Largest requests that one connection, and all together, may owe at the least. */
const LARGEST_REQUESTS = 4;

/** A connection that is to be closed. */
export interface Unfit {
  readonly connection: Connection;
  /** undefined: it is no use any more, nobody needs to hear of it. */
  readonly refusal: Pick<Refusal, 'limit' | 'details'> | undefined;
}

/**
 * Looks at all connections. What one owes is bounded, and how long; and when all together owe too much those go that
 * have done so for the longest: who is honest needs a moment for a request, who is not takes for ever.
 * @param totalBytes what all together may owe.
 */
export function unfit(
  connections: Iterable<Connection>,
  limits: XdsLimits,
  totalBytes: number,
  nowMs: number,
): readonly Unfit[] {
  const found: Unfit[] = [];
  const owing: Connection[] = [];
  let owedBytes = 0;
  for (const connection of connections) {
    connection.look(nowMs);
    const own = unfitAlone(connection, limits, nowMs);
    if (own !== undefined) {
      found.push(own);
    } else if (connection.owedBytes > 0) {
      owedBytes += connection.owedBytes;
      owing.push(connection);
    }
  }
  const most = Math.max(totalBytes, LARGEST_REQUESTS * limits.messageBytes);
  if (owedBytes <= most) return found;
  const since = ({ unfinishedSinceMs }: Connection): number => unfinishedSinceMs ?? nowMs;
  for (const connection of owing.sort((one, other) => since(one) - since(other))) {
    found.push({ connection, refusal: owes(connection) });
    owedBytes -= connection.owedBytes;
    if (owedBytes <= most) break;
  }
  return found;
}

function unfitAlone(connection: Connection, limits: XdsLimits, nowMs: number): Unfit | undefined {
  const { owedBytes, unfinishedSinceMs, idleSinceMs } = connection;
  const { messageBytes, readSeconds } = limits;
  if (owedBytes > Math.max(OWED_BYTES, LARGEST_REQUESTS * messageBytes)) {
    return { connection, refusal: owes(connection) };
  }
  if (nowMs - (unfinishedSinceMs ?? nowMs) > readSeconds * 1000) {
    const details = `Xds.Limits.ReadSeconds: half a request, or an ended stream that stays open, for ${readSeconds} s, the connection is closed`;
    return { connection, refusal: { limit: 'ReadSeconds', details } };
  }
  return nowMs - (idleSinceMs ?? nowMs) > IDLE_MS ? { connection, refusal: undefined } : undefined;
}

function owes({ owedBytes }: Connection): Pick<Refusal, 'limit' | 'details'> {
  const details = `Xds.Limits.MessageBytes: ${Math.round(owedBytes)} bytes that make no request, the connection is closed`;
  return { limit: 'MessageBytes', details };
}
