import { formatHostPort } from '../../src/runtime/host-port.ts';
import { messageType } from '../../src/xds/protos.ts';

/** What is read of an assignment, as protobufjs decodes it. */
interface Assignment {
  readonly endpoints?: readonly { readonly lbEndpoints: readonly Endpoint[] }[];
}

interface Endpoint {
  readonly endpoint: {
    readonly address: { readonly socketAddress: { readonly address: string; readonly portValue: number } };
  };
  readonly healthStatus: number;
  readonly loadBalancingWeight: { readonly value: number };
}

/** envoy.config.core.v3.HealthStatus */
const HEALTHY = 1;

/** By the weights of the healthy endpoints of an EDS resource, over what each had if all were equal. */
export function sharesOf(resource: Buffer): ReadonlyMap<string, number> {
  const type = messageType('envoy.config.endpoint.v3.ClusterLoadAssignment');
  const { endpoints = [] } = type.decode(resource) as unknown as Assignment;
  const all = endpoints.flatMap(({ lbEndpoints }) => lbEndpoints);
  const healthy = all.filter(({ healthStatus }) => healthStatus === HEALTHY);
  const total = healthy.reduce((sum, { loadBalancingWeight: { value } }) => sum + value, 0);
  return new Map(
    healthy.map(({ endpoint, loadBalancingWeight: { value } }) => {
      const { address, portValue } = endpoint.address.socketAddress;
      return [formatHostPort(address, portValue), (value * all.length) / total];
    }),
  );
}
