import { App } from '../app.ts';
import { formatMistake, loadConfiguration } from '../config/load.ts';
import { systemClock } from '../runtime/clock.ts';
import { EXIT, messageOf, PlimsollError } from '../runtime/errors.ts';
import { createLogger, type Logger } from '../runtime/log.ts';
import { rehearse } from './rehearsal.ts';

/** How long the last log lines may take to be written. */
const LAST_LINES_MS = 2_000;

/**
 * Runs the control plane until SIGTERM or SIGINT; a second one of them ends the drain period at once. SIGHUP reads
 * the configuration again.
 * @returns the exit code.
 */
export async function serve(
  options: { readonly config: string },
  io: { readonly err: (text: string) => void },
): Promise<number> {
  const loaded = await loadConfiguration(options.config);
  if (loaded.kind === 'invalid') {
    for (const mistake of loaded.mistakes) io.err(`${formatMistake(mistake)}\n`);
    return EXIT.usage;
  }
  const { configuration } = loaded;
  const log = await createLogger(configuration.log);
  const app = new App({ configuration, clock: systemClock, log });
  const stop = new AbortController();
  const hurry = new AbortController();
  const onSignal = (): void => {
    (stop.signal.aborted ? hurry : stop).abort();
  };
  const onReload = reloader(options.config, app, log);
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', onReload);
  try {
    await rehearse(systemClock);
    await app.start();
    await aborted(stop.signal);
    await app.stop(hurry.signal);
    log.info('stopped');
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof PlimsollError)) throw error;
    log.fatal(messageOf(error));
    return EXIT.failed;
  } finally {
    endSoon();
    process.off('SIGTERM', onSignal).off('SIGINT', onSignal).off('SIGHUP', onReload);
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

/**
 * Reads the file again at each call; while it is being read, one more reading is enough for all calls that come. A bad
 * file changes nothing.
 */
function reloader(file: string, app: App, log: Logger): () => void {
  let asked = false;
  let reading = false;
  const readAll = async (): Promise<void> => {
    reading = true;
    while (asked) {
      asked = false;
      await reload(file, app, log);
    }
    reading = false;
  };
  return () => {
    asked = true;
    if (!reading) void readAll();
  };
}

async function reload(file: string, app: App, log: Logger): Promise<void> {
  const loaded = await loadConfiguration(file);
  if (loaded.kind === 'valid') {
    app.reload(loaded.configuration);
    return;
  }
  app.reloadRefused();
  const mistakes = loaded.mistakes.map(formatMistake);
  log.error(
    { mistakes: mistakes.slice(0, 20), total: mistakes.length },
    'reload refused: nothing has changed',
  );
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
