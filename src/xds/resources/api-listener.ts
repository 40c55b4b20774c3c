import type { ServerGroup } from '../../core/model/server-group.ts';
import { HTTP_CONNECTION_MANAGER, routerFilter } from './listener.ts';
import { encodeProtoJson } from './proto-json.ts';
import { routeJson } from './route.ts';
import { TYPE_URLS } from './type-urls.ts';

/**
 * The LDS resource that a gRPC application asks for when it calls `xds:///GROUP`; its name is the group's. It has no
 * address, only routes: the application itself is the proxy. An Envoy takes none like it.
 */
export function encodeApiListener(group: ServerGroup): Uint8Array {
  return encodeProtoJson(TYPE_URLS.listener, {
    name: group.name,
    api_listener: {
      api_listener: {
        '@type': HTTP_CONNECTION_MANAGER,
        stat_prefix: group.name,
        route_config: routeJson(group.name, group),
        http_filters: [routerFilter],
      },
    },
  });
}
