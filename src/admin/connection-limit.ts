import type { Server, Socket } from 'node:net';

/**
 * Holds at most `most` connections of a server. One more closes an old one, so that whoever holds many open keeps nobody
 * else out, a probe least of all: of the address that has the most, its oldest.
 */
export function limitConnections(server: Server, most: number): void {
  const byAddress = new Map<string, Set<Socket>>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    // it is gone already where there is none
    const address = socket.remoteAddress ?? '';
    const own = byAddress.get(address) ?? new Set();
    byAddress.set(address, own.add(socket));
    total += 1;
    socket.once('close', () => {
      total -= 1;
      own.delete(socket);
      if (own.size === 0 && byAddress.get(address) === own) byAddress.delete(address);
    });
    if (total > most) oldestOfMost(byAddress)?.destroy();
  });
}

function oldestOfMost(byAddress: ReadonlyMap<string, ReadonlySet<Socket>>): Socket | undefined {
  let most: ReadonlySet<Socket> = new Set();
  for (const own of byAddress.values()) if (own.size > most.size) most = own;
  return [...most].find((socket) => !socket.destroyed);
}
