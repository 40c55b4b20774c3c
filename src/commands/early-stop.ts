/**
 * Imported before anything else. The first process of a container gets no signal that it has no handler for, so a
 * SIGTERM that comes while it is still coming up would be lost, and the container killed only when its time is over.
 */
if (process.pid === 1) {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // from then on others know better how to end
      if (process.listenerCount(signal) === 1) process.exit(0);
    });
  }
}
