import { type Logger, pino } from 'pino';

export type { Logger };

export interface LogOptions {
  readonly level: string;
  /** auto: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
}

/** A logger that writes to standard error, so that standard output stays free for a command's result. */
export async function createLogger(options: LogOptions): Promise<Logger> {
  const pretty = options.format === 'pretty' || (options.format === 'auto' && process.stderr.isTTY === true);
  const settings = { level: options.level, base: null };
  if (!pretty) return pino(settings, pino.destination({ fd: 2, sync: true }));
  const { default: prettyStream } = await import('pino-pretty');
  const colorize = process.stderr.isTTY === true && process.env['NO_COLOR'] === undefined;
  return pino(
    settings,
    prettyStream({ destination: 2, sync: true, colorize, translateTime: 'SYS:HH:MM:ss.l' }),
  );
}

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });
