import { stringify } from 'yaml';

const HTTP2 = {
  'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
    '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    explicit_http_config: { http2_protocol_options: {} },
  },
};

export interface ProxyOptions {
  readonly type: 'sidecar' | 'router';
  /** Of its pod. */
  readonly labels: Readonly<Record<string, string>>;
  readonly istiodPort: number;
  /** Where it gets its certificate. */
  readonly secretsPort: number;
}

/**
 * The bootstrap of a proxy of Istio in the namespace `inference`, as far as it matters here. Its listeners are bound to
 * their ports (`INTERCEPTION_MODE: NONE`), since there is nothing that would redirect traffic to it.
 */
export function proxyBootstrap({ type, labels, istiodPort, secretsPort }: ProxyOptions): string {
  const ads = { ads: {}, initial_fetch_timeout: '0s', resource_api_version: 'V3' };
  return stringify({
    node: {
      id: `${type}~10.0.9.9~${type}-1.inference~inference.svc.cluster.local`,
      cluster: `${type}.inference`,
      metadata: {
        ISTIO_VERSION: '1.31.0',
        NAMESPACE: 'inference',
        CLUSTER_ID: 'Kubernetes',
        INTERCEPTION_MODE: 'NONE',
        LABELS: labels,
      },
    },
    admin: { address: address(0) },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds-grpc' } }],
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: {
      clusters: [cluster('xds-grpc', istiodPort), cluster('sds-grpc', secretsPort)],
    },
  });
}

function cluster(name: string, port: number): object {
  return {
    name,
    type: 'STATIC',
    connect_timeout: '1s',
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address: address(port) } }] }],
    },
    typed_extension_protocol_options: HTTP2,
  };
}

function address(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}
