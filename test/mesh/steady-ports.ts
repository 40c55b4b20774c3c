import { createServer } from 'node:net';

/** Below the ports that kernels give out by themselves. */
const LOWEST = 20_000;
const COUNT = 10_000;
const TRIES = 100;

/**
 * TCP ports that nobody listens on, and that nobody gets by chance before they are used, as a free port of the kernel's
 * choice may be: programs that are told their ports take long to start.
 */
export async function steadyPorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  for (let tries = 0; tries < TRIES && ports.size < count; tries++) {
    const port = LOWEST + Math.trunc(Math.random() * COUNT);
    if (await isFree(port)) ports.add(port);
  }
  if (ports.size < count) throw new Error(`no ${count} free ports from ${LOWEST} on`);
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
