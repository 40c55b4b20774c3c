/**
 * Imported before anything else. By default SIGHUP ends a process: one that asks for a reload while `serve` is still
 * coming up must not. What it asks for happens anyway, as the configuration has not been read yet.
 */
if (process.argv.includes('serve')) process.on('SIGHUP', () => undefined);
