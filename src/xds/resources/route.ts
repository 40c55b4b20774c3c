import type { Listener } from '../../core/model/configuration.ts';
import type { ServerGroup } from '../../core/model/server-group.ts';
import { encodeProtoJson, type ProtoJsonMessage } from './proto-json.ts';
import { TYPE_URLS } from './type-urls.ts';

/** Routes: everything to the cluster of the server group, for as long as it takes. */
export function routeJson(name: string, group: Pick<ServerGroup, 'name'>): ProtoJsonMessage {
  return {
    name,
    virtual_hosts: [
      {
        name: group.name,
        domains: ['*'],
        routes: [
          {
            match: { prefix: '/' },
            route: {
              cluster: group.name,
              // Envoy's 15 s would cut long generations
              timeout: '0s',
              retry_policy: retryPolicy,
            },
          },
        ],
      },
    ],
    // routes may come before their cluster: 503 until it is there
    validate_clusters: false,
  };
}

/**
 * Only what no backend can have begun to work on is sent again, and not to a backend that was tried. The attempts
 * spread over seconds: in a burst a server's kernel drops connections that its accept queue has no room for.
 */
const retryPolicy: ProtoJsonMessage = {
  retry_on: 'reset-before-request,connect-failure,refused-stream',
  num_retries: 5,
  retry_back_off: { base_interval: '0.1s', max_interval: '1s' },
  retry_host_predicate: [
    {
      name: 'envoy.retry_host_predicates.previous_hosts',
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
      },
    },
  ],
  // picks by weight until it hits another host
  host_selection_retry_max_attempts: 10,
};

/** The RDS resource of a listener; its name is the listener's. */
export function encodeRoute(listener: Listener, group: ServerGroup): Uint8Array {
  return encodeProtoJson(TYPE_URLS.route, routeJson(listener.name, group));
}
