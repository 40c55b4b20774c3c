import { App } from '../app.ts';
import { formatMistakes, loadConfiguration } from '../config/load.ts';
import { systemClock } from '../runtime/clock.ts';
import { EXIT, PlimsollError } from '../runtime/errors.ts';
import { createLogger } from '../runtime/log.ts';
import { switchLevel } from '../runtime/switch-level.ts';
import { printable } from '../runtime/text.ts';
import { ConfigReloader } from './config-reloader.ts';
import { rehearse } from './rehearsal.ts';
import { startFault } from './start-fault.ts';

/** How long the last log lines may take to be written. */
const LAST_LINES_MS = 2_000;

/**
 * Runs the control plane until SIGTERM or SIGINT; a second one of them ends the drain period at once. SIGHUP reads
 * the configuration again, as does a change of its file; SIGUSR2 makes the log tell more, and as much as before.
 * @returns the exit code.
 */
export async function serve(
  options: { readonly config: string },
  io: { readonly err: (text: string) => void },
): Promise<number> {
  const loaded = await loadConfiguration(options.config);
  if (loaded.kind === 'invalid') {
    io.err(`${formatMistakes(loaded.mistakes).join('\n')}\n`);
    return EXIT.usage;
  }
  const { configuration, fields } = loaded;
  const file = options.config;
  const log = await createLogger(configuration.log);
  const app = new App({ configuration, source: { file, fields }, clock: systemClock, log });
  const stop = new AbortController();
  const hurry = new AbortController();
  const onSignal = (): void => {
    (stop.signal.aborted ? hurry : stop).abort();
  };
  const reloader = new ConfigReloader({ file, loaded, app, clock: systemClock });
  const onReload = (): void => {
    reloader.reload();
  };
  const onTalk = (): void => {
    switchLevel(log, configuration.log.level);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', onReload).on('SIGUSR2', onTalk);
  try {
    await rehearse(systemClock);
    await app.start();
    await aborted(stop.signal);
    await app.stop(hurry.signal);
    log.info('stopped');
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    log.fatal(printable(startFault(error), 2000));
    return EXIT.failed;
  } finally {
    endSoon();
    await reloader.close();
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal).off('SIGHUP', onReload).off('SIGUSR2', onTalk);
  }
}

/**
 * Log lines that nobody takes, as from a stuck terminal, would keep the process for ever: a write that blocks cannot be
 * given up, and not even `process.exit` gets past it.
 */
function endSoon(): void {
  setTimeout(() => {
    process.kill(process.pid, 'SIGKILL');
  }, LAST_LINES_MS).unref();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else {
      signal.addEventListener(
        'abort',
        () => {
          resolve();
        },
        { once: true },
      );
    }
  });
}
