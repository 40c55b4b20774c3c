import type { Configuration, ListenAddress } from '../core/model/configuration.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import type { Logger } from '../runtime/log.ts';
import { roomForConnections } from '../runtime/open-files.ts';

/** The addresses that are bound, with the kernel's choice where port 0 was asked for. */
export interface BoundAddresses {
  readonly xds: ListenAddress;
  readonly admin: ListenAddress;
}

/** Where to reach what is bound, who else can, and whether as many can as are let in. */
export function logBound(
  log: Logger,
  { xds, admin }: Pick<Configuration, 'xds' | 'admin'>,
  bound: BoundAddresses,
): void {
  log.info(showBound(bound), 'listening');
  if (xds.tls === undefined && !isLoopback(xds.listen.host)) {
    log.warn({ xds: show(bound.xds) }, 'no Xds.Tls: whoever reaches this port reads every assignment');
  }
  if (admin.bearerTokenFile === undefined && !isLoopback(admin.listen.host)) {
    log.warn(
      { admin: show(bound.admin), tls: admin.tls !== undefined },
      'no Admin.BearerTokenFile: whoever reaches this port reads the configuration and what sidecars and backends do',
    );
  } else if (admin.tls === undefined && !isLoopback(admin.listen.host)) {
    log.warn(
      { admin: show(bound.admin) },
      'no Admin.Tls: the token of Admin.BearerTokenFile goes over the network in plain text',
    );
  }
  const room = roomForConnections();
  if (room < xds.limits.streams) {
    const { streams } = xds.limits;
    log.info(
      { streams, room },
      'the limit of open files (ulimit -n) lets in fewer connections than Xds.Limits.Streams',
    );
  }
}

/** Both addresses as `HOST:PORT`. */
export function showBound({ xds, admin }: BoundAddresses): { readonly xds: string; readonly admin: string } {
  return { xds: show(xds), admin: show(admin) };
}

function show({ host, port }: ListenAddress): string {
  return formatHostPort(host, port);
}

function isLoopback(ip: string): boolean {
  return ip === '::1' || ip.startsWith('127.');
}
