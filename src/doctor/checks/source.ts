import { type Finding, Judge } from '../finding.ts';
import { clusterMend } from '../mends.ts';
import type { PlimsollView } from '../plimsoll-view.ts';
import type { ClusterView, ControlPlaneView } from '../view.ts';

const EDS_CONFIG = ['eds_cluster_config', 'eds_config'];
const KINDS: Readonly<Record<string, string>> = {
  DELTA_GRPC: 'delta',
  GRPC: 'state of the world',
  AGGREGATED_DELTA_GRPC: 'delta',
  AGGREGATED_GRPC: 'state of the world',
};

export function checkSource({ name, serviceName, source }: ClusterView): Finding {
  const judge = new Judge('eds_config', { cluster: name });
  const { apiType, controlPlane, stream } = source;
  const kind = apiType !== undefined && Object.hasOwn(KINDS, apiType) ? KINDS[apiType] : undefined;
  if (kind === undefined) {
    return judge.error({
      is: stream === 'ads' && apiType === undefined ? 'ads, and there is no ads_config' : (apiType ?? 'REST'),
      shouldBe: 'DELTA_GRPC or GRPC',
      why: 'Plimsoll serves endpoints over gRPC only.',
      mend: clusterMend([EDS_CONFIG]),
    });
  }
  const way = stream === 'ads' ? 'ADS' : 'a stream of its own';
  return judge.ok(`${serviceName} from ${controlPlane ?? 'another gRPC service'}, over ${way}, ${kind}`);
}

/** @param controlPlanes of which it is known how they are reached */
export function checkControlPlane(
  { name, source }: ClusterView,
  controlPlanes: readonly ControlPlaneView[],
): readonly Finding[] {
  if (controlPlanes.some((plane) => plane.name === source.controlPlane)) return [];
  return [
    new Judge('control plane', { cluster: name }).unknown(
      'there is no such cluster in this Envoy: connection, TLS and pings are not looked at',
    ),
  ];
}

/** Envoy's default, seconds. */
const FETCH_MAX = 15;

export function checkInitialFetch({ name, source }: ClusterView): Finding {
  const judge = new Judge('initial_fetch_timeout', { cluster: name });
  const { initialFetchTimeout: timeout } = source;
  const mend = clusterMend([[...EDS_CONFIG, 'initial_fetch_timeout']]);
  if (timeout === null) return judge.unreadable();
  if (timeout === 0) {
    return judge.error({
      is: '0 s, which is without end',
      shouldBe: '5 s',
      why: 'An Envoy that starts while the control plane is away never opens its listeners.',
      mend,
    });
  }
  if (timeout !== undefined && timeout < FETCH_MAX) return judge.ok(`${timeout} s`);
  return judge.warning({
    is: timeout === undefined ? `not set, so ${FETCH_MAX} s` : `${timeout} s`,
    shouldBe: '5 s',
    why: 'An Envoy that starts while the control plane is away keeps all its listeners closed for that long.',
    mend,
  });
}

/** Only where Plimsoll says which groups it has. */
export function checkServiceName(
  { name, serviceName }: ClusterView,
  plimsoll: PlimsollView | undefined,
): readonly Finding[] {
  if (plimsoll === undefined) return [];
  const judge = new Judge('service_name', { cluster: name });
  if (plimsoll.groups.has(serviceName)) return [judge.ok(`${serviceName}, a server group of Plimsoll`)];
  const groups = [...plimsoll.groups.keys()];
  const more = groups.length > 10 ? ` and ${groups.length - 10} more` : '';
  return [
    judge.error({
      is: serviceName,
      shouldBe: `the name of a server group: ${groups.slice(0, 10).join(', ')}${more}`,
      why: 'Plimsoll has no group of this name, and the cluster gets no endpoints.',
    }),
  ];
}
