import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE, SERVED_TYPES } from './served-types.ts';
import type { XdsService } from './service.ts';

/** What Plimsoll serves: everything on one aggregated stream, and each type on a stream of its own. */
export const XDS_SERVICES: readonly XdsService[] = [
  {
    kind: 'ads',
    name: 'envoy.service.discovery.v3.AggregatedDiscoveryService',
    methods: { sotw: 'StreamAggregatedResources', delta: 'DeltaAggregatedResources' },
    types: SERVED_TYPES,
  },
  {
    kind: 'cds',
    name: 'envoy.service.cluster.v3.ClusterDiscoveryService',
    methods: { sotw: 'StreamClusters', delta: 'DeltaClusters' },
    types: [CLUSTER_TYPE],
  },
  {
    kind: 'eds',
    name: 'envoy.service.endpoint.v3.EndpointDiscoveryService',
    methods: { sotw: 'StreamEndpoints', delta: 'DeltaEndpoints' },
    types: [ENDPOINT_TYPE],
  },
  {
    kind: 'lds',
    name: 'envoy.service.listener.v3.ListenerDiscoveryService',
    methods: { sotw: 'StreamListeners', delta: 'DeltaListeners' },
    types: [LISTENER_TYPE],
  },
  {
    kind: 'rds',
    name: 'envoy.service.route.v3.RouteDiscoveryService',
    methods: { sotw: 'StreamRoutes', delta: 'DeltaRoutes' },
    types: [ROUTE_TYPE],
  },
];
