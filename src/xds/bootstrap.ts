import { isIP } from 'node:net';
import type { Listener } from '../core/model/configuration.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { clusterJson } from './resources/cluster.ts';
import { adsSource, deltaGrpc, ownStreamSource, XDS_CLUSTER } from './resources/config-source.ts';
import { listenerJson } from './resources/listener.ts';
import type { ProtoJsonMessage } from './resources/proto-json.ts';
import { routeJson } from './resources/route.ts';

/** Files in PEM on the sidecar's machine, by their paths there. */
export interface SidecarTls {
  /** The authority that the control plane's certificate is from. */
  readonly caFile: string;
  /** The sidecar's own; undefined: it has none. */
  readonly own: { readonly certFile: string; readonly keyFile: string } | undefined;
}

/** Where a sidecar reaches a control plane: the host is an IP literal (IPv6 without brackets) or a DNS name. */
export interface XdsAddress {
  readonly host: string;
  readonly port: number;
}

/** What does not depend on where a sidecar's listeners come from. */
export interface SidecarSettings {
  /** At least one; of several, which are equal, the sidecar has one at a time. */
  readonly xds: readonly XdsAddress[];
  /** undefined: plain text. */
  readonly tls: SidecarTls | undefined;
  readonly nodeId: string;
  readonly nodeCluster: string;
  /** Where the sidecar runs; undefined: it does not say. */
  readonly zone?: string | undefined;
  /** On 127.0.0.1; 0: the kernel's choice. */
  readonly adminPort: number;
}

/** One listener and the server group that it sends its requests to. */
export interface ListenerOfGroup {
  readonly listener: Listener;
  readonly group: ServerGroup;
}

/** A bootstrap by which Envoy gets listeners, routes, clusters and endpoints over one aggregated stream. */
export function adsBootstrap(settings: SidecarSettings): ProtoJsonMessage {
  return {
    ...head(settings),
    dynamic_resources: { ads_config: deltaGrpc, cds_config: adsSource, lds_config: adsSource },
    static_resources: { clusters: [xdsCluster(settings)] },
  };
}

/** A bootstrap that holds listeners, routes and clusters; only the endpoints come from the control plane. */
export function edsBootstrap(
  settings: SidecarSettings,
  listeners: readonly ListenerOfGroup[],
): ProtoJsonMessage {
  const groups = new Map(listeners.map(({ group }) => [group.name, group]));
  return {
    ...head(settings),
    static_resources: {
      listeners: listeners.map(({ listener, group }) =>
        listenerJson(listener, group, { route_config: routeJson(listener.name, group) }),
      ),
      clusters: [
        ...[...groups.values()].map((group) => clusterJson(group, ownStreamSource)),
        xdsCluster(settings),
      ],
    },
  };
}

function head({ nodeId, nodeCluster, zone, adminPort }: SidecarSettings): ProtoJsonMessage {
  return {
    node: { id: nodeId, cluster: nodeCluster, ...(zone !== undefined && { locality: { zone } }) },
    admin: { address: socketAddress('127.0.0.1', adminPort) },
  };
}

/**
 * A replica that hangs still takes connections: after a failure the next stream goes to another one. It is left out for a
 * moment only, as it may be back when the other one goes, and never where there is no other.
 */
const ELSEWHERE: ProtoJsonMessage = {
  consecutive_5xx: 1,
  interval: '1s',
  base_ejection_time: '5s',
  max_ejection_time: '5s',
  max_ejection_percent: 50,
};

/** The one cluster that no control plane can tell of: the control plane's own. */
function xdsCluster({ xds, tls }: SidecarSettings): ProtoJsonMessage {
  return {
    name: XDS_CLUSTER,
    ...(xds.some(isNamed) ? { type: 'STRICT_DNS', dns_lookup_family: 'V4_PREFERRED' } : { type: 'STATIC' }),
    // the handshake is part of it, and after an outage all sidecars come at once
    connect_timeout: tls === undefined ? '1s' : '5s',
    load_assignment: {
      cluster_name: XDS_CLUSTER,
      endpoints: [
        {
          lb_endpoints: xds.map(({ host, port }) => ({ endpoint: { address: socketAddress(host, port) } })),
        },
      ],
    },
    outlier_detection: ELSEWHERE,
    ...(tls === undefined ? {} : { transport_socket: tlsSocket(xds, tls) }),
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
        explicit_http_config: {
          // finds a control plane that is gone without a word
          http2_protocol_options: { connection_keepalive: { interval: '10s', timeout: '5s' } },
        },
      },
    },
  };
}

function isNamed({ host }: XdsAddress): boolean {
  return isIP(host) === 0;
}

/** The certificate has to be of a name or address that is connected to. */
function tlsSocket(xds: readonly XdsAddress[], { caFile, own }: SidecarTls): ProtoJsonMessage {
  const names = new Set(xds.filter(isNamed).map(({ host }) => host));
  const addresses = new Set(xds.filter((address) => !isNamed(address)).map(({ host }) => host));
  const [name] = names;
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      // the same one is said to all
      ...(names.size === 1 && addresses.size === 0 ? { sni: name } : {}),
      common_tls_context: {
        alpn_protocols: ['h2'],
        ...(own === undefined ? {} : { tls_certificates: [certificateOf(own)] }),
        validation_context: {
          trusted_ca: { filename: caFile },
          match_typed_subject_alt_names: [
            ...Array.from(names, (exact) => ({ san_type: 'DNS', matcher: { exact } })),
            ...Array.from(addresses, (exact) => ({ san_type: 'IP_ADDRESS', matcher: { exact } })),
          ],
        },
      },
    },
  };
}

function certificateOf({ certFile, keyFile }: NonNullable<SidecarTls['own']>): ProtoJsonMessage {
  return { certificate_chain: { filename: certFile }, private_key: { filename: keyFile } };
}

function socketAddress(address: string, port: number): ProtoJsonMessage {
  return { socket_address: { address, port_value: port } };
}
