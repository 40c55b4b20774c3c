import { type Logger, pino } from 'pino';
import { LogSink } from './log-sink.ts';

export type { Logger };

export interface LogOptions {
  readonly level: string;
  /** auto: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'pretty';
}

/** A logger that writes to standard error, so that standard output stays free for a command's result. */
export async function createLogger(options: LogOptions): Promise<Logger> {
  const pretty = options.format === 'pretty' || (options.format === 'auto' && process.stderr.isTTY);
  const settings = { level: options.level, base: null };
  const sink = new LogSink(2);
  if (!pretty) return pino(settings, sink);
  const { prettyFactory } = await import('pino-pretty');
  const colorize = process.stderr.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  const format = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l' });
  return pino(settings, {
    write: (line) => {
      sink.write(format(line));
    },
  });
}

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });
