import type { Logger } from './log.ts';

/**
 * Makes a log tell more, and at the next call as much as before: debug and back; where `usual` is debug or trace, info
 * and back. The log says so, whatever its level.
 * @param usual that of the configuration
 */
export function switchLevel(log: Logger, usual: string): void {
  const other = usual === 'debug' || usual === 'trace' ? 'info' : 'debug';
  const next = log.level === usual ? other : usual;
  log.level = 'info';
  log.info({ now: next }, 'log level changed: the next SIGUSR2 changes it back');
  log.level = next;
}
