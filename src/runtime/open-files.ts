import { readFileSync } from 'node:fs';

/** Connections of clients take this part of the files that may be open: beyond the last one nothing works. */
const PART = 3 / 4;

/**
 * How many connections of clients this process has room for, by its limit of open files; infinity: there is none, or
 * this is not Linux, where nothing tells.
 */
export function roomForConnections(): number {
  try {
    return Math.floor(limitIn(readFileSync('/proc/self/limits', 'utf8')) * PART);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param limits as /proc/PID/limits has them. */
export function limitIn(limits: string): number {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
