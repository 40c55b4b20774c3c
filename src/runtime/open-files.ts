import { readFileSync } from 'node:fs';

/** How many files and sockets this process may have open; infinity: no limit, or not Linux, where nothing tells. */
export function openFilesLimit(): number {
  try {
    return limitIn(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** @param limits as /proc/PID/limits has them. */
export function limitIn(limits: string): number {
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
