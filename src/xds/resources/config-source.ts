import type { ProtoJsonMessage } from './proto-json.ts';

/** The cluster by which Envoy reaches the control plane; static in every bootstrap. */
export const XDS_CLUSTER = 'plimsoll_xds';

/** Until then Envoy waits for a first answer before it opens its listeners; without end if it were 0. */
const INITIAL_FETCH_TIMEOUT = '5s';

/** Over the aggregated stream that the bootstrap configures. */
export const adsSource: ProtoJsonMessage = {
  resource_api_version: 'V3',
  initial_fetch_timeout: INITIAL_FETCH_TIMEOUT,
  ads: {},
};

/** How Envoy opens a stream to the control plane; with Envoy's own back-off it would stay away for up to 15 s. */
export const deltaGrpc: ProtoJsonMessage = {
  api_type: 'DELTA_GRPC',
  transport_api_version: 'V3',
  set_node_on_first_message_only: true,
  grpc_services: [
    {
      envoy_grpc: {
        cluster_name: XDS_CLUSTER,
        retry_policy: { retry_back_off: { base_interval: '0.2s', max_interval: '2s' } },
      },
    },
  ],
};

/** Over a stream of its own, for a cluster that is static in the bootstrap. */
export const ownStreamSource: ProtoJsonMessage = {
  resource_api_version: 'V3',
  initial_fetch_timeout: INITIAL_FETCH_TIMEOUT,
  api_config_source: deltaGrpc,
};
