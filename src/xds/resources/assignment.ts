import type { Assignment, Endpoint, EndpointHealth } from '../../core/model/assignment.ts';
import { messageType } from '../protos.ts';

/** envoy.config.core.v3.HealthStatus */
const HEALTH_STATUS: Readonly<Record<EndpointHealth, number>> = { HEALTHY: 1, UNHEALTHY: 2, DRAINING: 3 };

/**
 * What Istio writes beside an endpoint whose workload has a sidecar: its clusters choose the transport socket by it, and
 * without it speak plain text.
 */
const METADATA = {
  Istio: {
    filterMetadata: {
      'envoy.transport_socket_match': { fields: { tlsMode: { stringValue: 'istio' } } },
    },
  },
} as const;

/** Names the refusals in a client's load reports and in gRPC's error message. */
const DROP_CATEGORY = 'plimsoll_admission';
/** envoy.type.v3.FractionalPercent.DenominatorType: parts of 10,000 */
const TEN_THOUSAND = 1;

/**
 * A client that chooses a locality before an endpoint (gRPC, or an Envoy with `locality_weighted_lb_config`) scales its
 * weight down by this factor times the healthy part of its endpoints, if that is below 1. Ours are of the healthy ones
 * only, and to be scaled by nothing.
 */
const OVERPROVISIONING = { value: 1_000_000 };

/**
 * The EDS resource of a server group; its name is the group's. A locality for each zone; what is in none is in one that
 * has no name, present all the same: gRPC clients ignore endpoints without. Without endpoints the message has no
 * locality, which clears the cluster. One category of refusals, since Envoy takes no more; none at all while no share is
 * refused.
 */
export function encodeAssignment(assignment: Assignment): Uint8Array {
  const { serverGroup, endpoints, dropShare, mesh } = assignment;
  const type = messageType('envoy.config.endpoint.v3.ClusterLoadAssignment');
  const localities = localitiesOf(endpoints, mesh === undefined ? undefined : METADATA[mesh]);
  const policy = {
    ...(dropShare > 0 ? { dropOverloads: [dropOverload(dropShare)] } : {}),
    ...(localities.length > 1 ? { overprovisioningFactor: OVERPROVISIONING } : {}),
  };
  return type
    .encode({
      clusterName: serverGroup,
      endpoints: localities,
      ...(Object.keys(policy).length > 0 ? { policy } : {}),
    })
    .finish();
}

function dropOverload(dropShare: number): object {
  const dropPercentage = { numerator: Math.round(10_000 * dropShare), denominator: TEN_THOUSAND };
  return { category: DROP_CATEGORY, dropPercentage };
}

/** In the order of the zones' names. A locality of weight 0 would be ignored: where nobody is healthy, it has 1. */
function localitiesOf(endpoints: readonly Endpoint[], metadata: object | undefined): readonly object[] {
  if (endpoints.length === 0) return [];
  const byZone = new Map<string, Endpoint[]>();
  for (const endpoint of endpoints) {
    const { zone = '' } = endpoint;
    const others = byZone.get(zone);
    if (others === undefined) byZone.set(zone, [endpoint]);
    else others.push(endpoint);
  }
  const zones = [...byZone].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return zones.map(([zone, ofZone]) => ({
    locality: zone === '' ? {} : { zone },
    lbEndpoints: ofZone.map((endpoint) => lbEndpoint(endpoint, metadata)),
    loadBalancingWeight: { value: zones.length === 1 ? 1 : Math.max(1, healthyWeight(ofZone)) },
  }));
}

function healthyWeight(endpoints: readonly Endpoint[]): number {
  return endpoints.reduce((sum, { weight, health }) => (health === 'HEALTHY' ? sum + weight : sum), 0);
}

function lbEndpoint({ address, port, weight, health }: Endpoint, metadata: object | undefined): object {
  return {
    metadata,
    endpoint: { address: { socketAddress: { address, portValue: port } } },
    healthStatus: HEALTH_STATUS[health],
    loadBalancingWeight: { value: weight },
  };
}
