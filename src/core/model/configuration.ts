import type { ServerGroup } from './server-group.ts';

/* All that one file configures, defaults filled in. */

export interface Listener {
  readonly name: string;
  /** An IP literal. */
  readonly address: string;
  readonly port: number;
  readonly serverGroup: string;
  /** Clients that send this header back keep to their backend; undefined: every request goes by weight. */
  readonly affinityHeader?: string | undefined;
}

/** HOST:PORT to listen on; the host is an IP literal, IPv6 without brackets here. Port 0: the kernel's choice. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What the xDS server takes from its clients; what goes beyond is refused. All integers of at least 1, seconds above 0. */
export interface XdsLimits {
  /** Open streams; also the most connections. */
  readonly streams: number;
  /** Open streams of one client, its connections, and how many it may open in a second. */
  readonly streamsPerIdentity: number;
  readonly streamsPerConnection: number;
  /** Names that a stream asks for and that do not exist, per type. */
  readonly names: number;
  /** Characters of a name, a node id or a version. */
  readonly nameLength: number;
  readonly messageBytes: number;
  /** Of one stream. */
  readonly requestsPerSecond: number;
  /** Of all clients. */
  readonly newStreamsPerSecond: number;
  /** How long a client may leave a response unread. */
  readonly readSeconds: number;
  /** How long a client may leave a response unanswered before it gets the next one regardless. */
  readonly ackSeconds: number;
}

export interface XdsKeepalive {
  /** Time between pings, seconds. */
  readonly intervalSeconds: number;
  /** A client that has not answered a ping by then is gone, seconds. */
  readonly timeoutSeconds: number;
}

/** Files in PEM, by their paths. They are read again when they change. */
export interface TlsFiles {
  /** The server's certificate, followed by the intermediate ones. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities that client certificates must come from; undefined: clients need none. */
  readonly clientCaFile: string | undefined;
}

/** Clients with this identity may see these server groups. What several rules for one client allow adds up. */
export interface AuthorizationRule {
  /** A name of the client's certificate: a URI, which may end in `/*`, or a DNS name; `*`: any verified client. */
  readonly identity: string;
  readonly serverGroups: 'all' | readonly string[];
}

/** The address for operators, and who may read there. */
export interface AdminSettings {
  readonly listen: ListenAddress;
  /** Files in PEM, by their paths, read again when they change; undefined: plain text. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** A file with the token that everything but health and readiness asks for; undefined: nothing is asked for. */
  readonly bearerTokenFile: string | undefined;
  /** Names, in lower case, that requests may come in under besides `localhost` and IP addresses. */
  readonly hosts: readonly string[];
}

/** The effective configuration of one file: every default filled in, every reference resolved. */
export interface Configuration {
  readonly xds: {
    readonly listen: ListenAddress;
    readonly drainSeconds: number;
    /** undefined: plain text. */
    readonly tls: TlsFiles | undefined;
    /** undefined: every client that may connect may see every server group. */
    readonly authorization: readonly AuthorizationRule[] | undefined;
    readonly limits: XdsLimits;
    readonly keepalive: XdsKeepalive;
    /** After about this time a connection is closed, so that clients spread anew; undefined: never. */
    readonly maxConnectionAgeSeconds: number | undefined;
  };
  readonly admin: AdminSettings;
  readonly log: { readonly level: LogLevel; readonly format: 'auto' | 'json' | 'pretty' };
  readonly serverGroups: readonly ServerGroup[];
  readonly listeners: readonly Listener[];
}
