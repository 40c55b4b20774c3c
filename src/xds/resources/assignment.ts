import type { Assignment, Endpoint, EndpointHealth } from '../../core/model.ts';
import { messageType } from '../protos.ts';

/** envoy.config.core.v3.HealthStatus */
const HEALTH_STATUS: Readonly<Record<EndpointHealth, number>> = { HEALTHY: 1, UNHEALTHY: 2, DRAINING: 3 };

/** Names the refusals in a client's load reports and in gRPC's error message. */
const DROP_CATEGORY = 'plimsoll_admission';
/** envoy.type.v3.FractionalPercent.DenominatorType: parts of 10,000 */
const TEN_THOUSAND = 1;

/**
 * The EDS resource of a server group; its name is the group's. One locality of weight 1, present even though it has
 * no name: gRPC clients ignore endpoints without. Without endpoints the message has no locality, which clears the
 * cluster. One category of refusals, since Envoy takes no more; none at all while no share is refused.
 */
export function encodeAssignment(assignment: Assignment): Uint8Array {
  const { serverGroup, endpoints, dropShare } = assignment;
  const type = messageType('envoy.config.endpoint.v3.ClusterLoadAssignment');
  const locality = {
    locality: {},
    lbEndpoints: endpoints.map(lbEndpoint),
    loadBalancingWeight: { value: 1 },
  };
  return type
    .encode({
      clusterName: serverGroup,
      endpoints: endpoints.length > 0 ? [locality] : [],
      ...(dropShare > 0 ? { policy: dropPolicy(dropShare) } : {}),
    })
    .finish();
}

function dropPolicy(dropShare: number): object {
  const dropPercentage = { numerator: Math.round(10_000 * dropShare), denominator: TEN_THOUSAND };
  return { dropOverloads: [{ category: DROP_CATEGORY, dropPercentage }] };
}

function lbEndpoint({ address, port, weight, health }: Endpoint): object {
  return {
    endpoint: { address: { socketAddress: { address, portValue: port } } },
    healthStatus: HEALTH_STATUS[health],
    loadBalancingWeight: { value: weight },
  };
}
