import type { Assignment, Endpoint, EndpointHealth } from '../../core/model.ts';
import { messageType } from '../protos.ts';

/** envoy.config.core.v3.HealthStatus */
const HEALTH_STATUS: Readonly<Record<EndpointHealth, number>> = { HEALTHY: 1, UNHEALTHY: 2, DRAINING: 3 };

/**
 * The EDS resource of a server group; its name is the group's. One locality of weight 1, present even though it has
 * no name: gRPC clients ignore endpoints without. Without endpoints the message has only its name, which clears the
 * cluster.
 */
export function encodeAssignment(assignment: Assignment): Uint8Array {
  const { serverGroup, endpoints } = assignment;
  const type = messageType('envoy.config.endpoint.v3.ClusterLoadAssignment');
  const locality = {
    locality: {},
    lbEndpoints: endpoints.map(lbEndpoint),
    loadBalancingWeight: { value: 1 },
  };
  return type
    .encode({ clusterName: serverGroup, endpoints: endpoints.length > 0 ? [locality] : [] })
    .finish();
}

function lbEndpoint({ address, port, weight, health }: Endpoint): object {
  return {
    endpoint: { address: { socketAddress: { address, portValue: port } } },
    healthStatus: HEALTH_STATUS[health],
    loadBalancingWeight: { value: weight },
  };
}
