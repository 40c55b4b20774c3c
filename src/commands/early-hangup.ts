/**
 * Imported before anything else. By default SIGHUP and SIGUSR2 end a process: one that comes while `serve` is still
 * coming up must not. What SIGHUP asks for happens anyway, as the configuration has not been read yet.
 */
if (process.argv.includes('serve')) process.on('SIGHUP', () => undefined).on('SIGUSR2', () => undefined);
