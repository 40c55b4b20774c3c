import type { Assignment, Endpoint } from '../core/model/assignment.ts';
import type { BackendId } from '../core/model/backend.ts';

/** Expected share of each HEALTHY backend; they sum up to 1, or there is none. */
export function sharesOf({ endpoints }: Assignment): ReadonlyMap<BackendId, number> {
  const healthy = endpoints.filter(({ health }) => health === 'HEALTHY');
  const total = healthy.reduce((sum, { weight }) => sum + weight, 0);
  return new Map(healthy.map((endpoint) => [idOf(endpoint), endpoint.weight / total]));
}

export function endpointIds(
  { endpoints }: Assignment,
  holds: (endpoint: Endpoint) => boolean,
): readonly BackendId[] {
  return endpoints.filter(holds).map(idOf);
}

function idOf({ address, port }: Endpoint): BackendId {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
