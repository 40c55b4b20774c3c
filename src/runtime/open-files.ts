import { readFileSync } from 'node:fs';

/** Connections of sidecars take this part of the files that may be open: beyond the last one nothing works. */
const PART = 3 / 4;
/** Those to the admin address take this part beside it, and leave as much for all else. */
const ADMIN_PART = 1 / 8;

/**
 * How many connections of sidecars this process has room for, by its limit of open files; infinity: there is none, or
 * this is not Linux, where nothing tells.
 */
export function roomForConnections(): number {
  return roomFor(PART);
}

/** How many connections to the admin address this process has room for, beside those of sidecars. */
export function roomForAdmin(): number {
  return roomFor(ADMIN_PART);
}

function roomFor(part: number): number {
  try {
    return Math.floor(limitIn(readFileSync('/proc/self/limits', 'utf8')) * part);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param limits as /proc/PID/limits has them. */
export function limitIn(limits: string): number {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
