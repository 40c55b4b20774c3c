import { TYPE_URLS } from './resources/type-urls.ts';

/** What the protocol does differently from one resource type to another. */
export interface ServedType {
  readonly url: string;
  /**
   * State-of-the-world responses are the complete set, absence deletes, and a first request without names asks for
   * everything: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#how-the-client-specifies-what-resources-to-return
   */
  readonly complete: boolean;
  /**
   * The type whose changed resources wait in the client until it gets the resource of the same name of this type,
   * changed or not: https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol#resource-warming
   */
  readonly parent: string | undefined;
  /**
   * How long a stream leaves a delta client what it has of an earlier one and is not here, or where responses are no complete
   * sets has another content here, milliseconds. Absent: no time. It may come from a control plane with other groups, such as
   * this one before a restart, and then takes the steps that a reload does: new clusters, routes, the end of old clusters.
   */
  readonly keepMs?: number;
}

export const CLUSTER_TYPE: ServedType = {
  url: TYPE_URLS.cluster,
  complete: true,
  parent: undefined,
  // as after a reload: longer than connections of a removed listener go on
  keepMs: 15 * 60_000,
};

export const ENDPOINT_TYPE: ServedType = {
  url: TYPE_URLS.endpoint,
  complete: false,
  parent: TYPE_URLS.cluster,
};

export const LISTENER_TYPE: ServedType = { url: TYPE_URLS.listener, complete: true, parent: undefined };

export const ROUTE_TYPE: ServedType = {
  url: TYPE_URLS.route,
  complete: false,
  parent: undefined,
  // as after a reload: until the client has its new clusters with their endpoints
  keepMs: 3_000,
};

/** In the order in which a change goes out on one stream: what others refer to goes first. */
export const SERVED_TYPES: readonly ServedType[] = [CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE];
