import { type AddressInfo, createServer } from 'node:net';

/** A TCP port of 127.0.0.1 that nobody listens on: for a process that has to be told its port, and told again after a restart. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no port');
  return port;
}

/** So many of them, all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const listening = servers.map(
    (server) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(0, '127.0.0.1', resolve);
      }),
  );
  await Promise.all(listening);
  // all are held until each has its own
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
