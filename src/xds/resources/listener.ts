import type { Listener } from '../../core/model/configuration.ts';
import type { ServerGroup } from '../../core/model/server-group.ts';
import { encodeProtoJson, type ProtoJsonMessage } from './proto-json.ts';
import { TYPE_URLS } from './type-urls.ts';

export const HTTP_CONNECTION_MANAGER =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** The last filter of every chain. */
export const routerFilter: ProtoJsonMessage = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
};

/** Where a listener's routes come from: `rds` or `route_config` of the HTTP connection manager. */
export type RouteSpecifier = { readonly rds: ProtoJsonMessage } | { readonly route_config: ProtoJsonMessage };

/** The listener, with the answer that its clients get while no backend of the group takes requests. */
export function listenerJson(
  listener: Pick<Listener, 'name' | 'address' | 'port' | 'affinityHeader'>,
  group: Pick<ServerGroup, 'retryAfterSeconds'>,
  routes: RouteSpecifier,
): ProtoJsonMessage {
  return {
    name: listener.name,
    address: { socket_address: { address: listener.address, port_value: listener.port } },
    // with it a second Envoy on the same port starts without an error and takes part of the connections
    enable_reuse_port: false,
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: {
              '@type': HTTP_CONNECTION_MANAGER,
              stat_prefix: listener.name,
              ...routes,
              // a request may wait minutes for its first token
              stream_idle_timeout: '600s',
              local_reply_config: { mappers: [noUpstreamMapper(group)] },
              http_filters: [...affinityFilters(listener), routerFilter],
            },
          },
        ],
      },
    ],
  };
}

/**
 * The answer has the header with the backend's address in it, and a request that brings it back goes there again as long
 * as that backend takes requests; otherwise it is balanced as if it brought none.
 */
function affinityFilters({ affinityHeader }: Pick<Listener, 'affinityHeader'>): readonly ProtoJsonMessage[] {
  if (affinityHeader === undefined) return [];
  return [
    {
      name: 'envoy.filters.http.stateful_session',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.filters.http.stateful_session.v3.StatefulSession',
        session_state: {
          name: 'envoy.http.stateful_session.header',
          typed_config: {
            '@type':
              'type.googleapis.com/envoy.extensions.http.stateful_session.header.v3.HeaderBasedSessionState',
            name: affinityHeader,
          },
        },
      },
    },
  ];
}

/** Only replies of Envoy's own pass through it, never a 503 from a backend. */
function noUpstreamMapper(group: Pick<ServerGroup, 'retryAfterSeconds'>): ProtoJsonMessage {
  return {
    // UH: no backend is healthy; NC: the cluster does not exist; DO: dropped by the assignment's policy
    filter: { response_flag_filter: { flags: ['UH', 'NC', 'DO'] } },
    status_code: 503,
    body: { inline_string: 'no available upstream' },
    headers_to_add: [
      {
        // a whole number of seconds, RFC 9110 section 10.2.3
        header: { key: 'retry-after', value: String(Math.ceil(group.retryAfterSeconds)) },
        append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
      },
    ],
  };
}

/**
 * The LDS resource of a listener; its name is the listener's, and so is that of its routes.
 * @param source where Envoy gets the routes from.
 */
export function encodeListener(listener: Listener, group: ServerGroup, source: ProtoJsonMessage): Uint8Array {
  const rds = { config_source: source, route_config_name: listener.name };
  return encodeProtoJson(TYPE_URLS.listener, listenerJson(listener, group, { rds }));
}
