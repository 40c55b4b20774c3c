import { XDS_CLUSTER } from '../xds/resources/config-source.ts';
import { checkLbPolicy, checkLocality, checkSlowStart, checkZoneRouting } from './checks/balancing.ts';
import { checkActiveChecks } from './checks/active-checks.ts';
import { checkHttp2, checkStreams, checkTls } from './checks/control-plane.ts';
import {
  checkEndpoints,
  checkHeldVersion,
  checkOtherRejected,
  checkRejected,
  holdsPublished,
} from './checks/endpoints.ts';
import { checkMergeWindow, checkOutlierDetection, checkPanicThreshold } from './checks/health.ts';
import { checkCircuitBreakers, checkIdleTimeout, checkMaxRetries } from './checks/limits.ts';
import { checkLocalReply } from './checks/local-reply.ts';
import {
  checkMaxDuration,
  checkReached,
  checkRetryPolicy,
  checkRouteTimeout,
  checkStreamIdle,
  type Way,
} from './checks/routes.ts';
import { checkSessions } from './checks/sessions.ts';
import { checkState, checkVersion } from './checks/server.ts';
import { checkControlPlane, checkInitialFetch, checkServiceName, checkSource } from './checks/source.ts';
import { checkZone } from './checks/zone.ts';
import { type Finding, Judge } from './finding.ts';
import type { PlimsollView } from './plimsoll-view.ts';
import type { ClusterView, EnvoyView } from './view.ts';

/** More are not looked at. */
const CLUSTERS_MAX = 100;

/**
 * All that there is to say about an Envoy, in the order to read it in: Envoy, the way to the control plane, each cluster
 * that takes its endpoints from Plimsoll, and the routes to it.
 * @param plimsoll undefined: nobody asked it
 */
export function diagnose(view: EnvoyView, plimsoll: PlimsollView | undefined): readonly Finding[] {
  const ours = clustersOfPlimsoll(view, plimsoll);
  const shown = ours.slice(0, CLUSTERS_MAX);
  const names = new Set(shown.map(({ name }) => name));
  const planes = new Set(shown.map(({ source }) => source.controlPlane));
  return [
    checkVersion(view),
    checkState(view),
    checkOtherRejected(view),
    checkFound(ours),
    view.controlPlanes
      // where clusters too would come from there, that may be why there are none
      .filter(({ name }) => planes.has(name) || ours.length === 0)
      .map((plane) => ({ ...plane, own: plane.own.filter(({ cluster }) => names.has(cluster ?? '')) }))
      .map((plane) => [checkHttp2(plane), checkTls(plane), checkStreams(plane, view)]),
    shown.map((cluster) => diagnoseCluster(cluster, view, plimsoll)),
  ].flat(3);
}

/** By the names of its groups; where it was not asked, those of the cluster `plimsoll_xds`, or else all. */
function clustersOfPlimsoll(
  { clusters }: EnvoyView,
  plimsoll: PlimsollView | undefined,
): readonly ClusterView[] {
  const byName = clusters.filter(({ source }) => source.controlPlane === XDS_CLUSTER);
  if (plimsoll === undefined) return byName.length > 0 ? byName : clusters;
  return clusters.filter((cluster) => byName.includes(cluster) || plimsoll.groups.has(cluster.serviceName));
}

function checkFound(ours: readonly ClusterView[]): Finding {
  const judge = new Judge('clusters', {});
  const names = ours.slice(0, 5).map(({ name }) => name);
  if (ours.length === 0) {
    return judge.error({
      is: 'none takes its endpoints from a control plane that may be Plimsoll',
      shouldBe: 'one of type EDS for each server group',
      why: 'Plimsoll has no effect here. Either it cannot be reached, or it is not configured: plimsoll bootstrap prints what is needed.',
    });
  }
  if (ours.length > CLUSTERS_MAX) {
    return judge.warning({
      is: `${ours.length} that take endpoints from a control plane, of which ${CLUSTERS_MAX} are looked at`,
      why: 'With --admin URL only those of Plimsoll are.',
    });
  }
  const more = ours.length > names.length ? ` and ${ours.length - names.length} more` : '';
  return judge.ok(`${names.join(', ')}${more} take endpoints from a control plane`);
}

function diagnoseCluster(
  cluster: ClusterView,
  view: EnvoyView,
  plimsoll: PlimsollView | undefined,
): readonly Finding[] {
  const ways = waysTo(cluster, view);
  const managers = [...new Set(ways.map(({ manager }) => manager))];
  return [
    checkSource(cluster),
    checkControlPlane(cluster, view.controlPlanes),
    checkServiceName(cluster, plimsoll),
    checkInitialFetch(cluster),
    checkHeldVersion(cluster, view, plimsoll),
    checkRejected(cluster, view, holdsPublished(cluster, view, plimsoll)),
    checkEndpoints(cluster, view),
    checkPanicThreshold(cluster),
    checkMergeWindow(cluster),
    checkLbPolicy(cluster, plimsoll),
    checkLocality(cluster),
    checkZoneRouting(cluster, view),
    checkZone(cluster, view, plimsoll),
    checkSlowStart(cluster),
    checkCircuitBreakers(cluster, view),
    checkMaxRetries(cluster),
    checkIdleTimeout(cluster),
    checkOutlierDetection(cluster),
    checkActiveChecks(cluster),
    checkSessions(cluster, managers),
    checkReached(cluster, ways, view.managers),
    ways.map((way) => checkRouteTimeout(way)),
    ways.flatMap((way) => checkMaxDuration(way)),
    ways.map((way) => checkStreamIdle(way)),
    ways.flatMap((way) => checkRetryPolicy(way)),
    managers.map((manager) => checkLocalReply(cluster.name, manager)),
  ].flat();
}

function waysTo(cluster: ClusterView, { managers }: EnvoyView): readonly Way[] {
  return managers.flatMap((manager) =>
    (manager.routes ?? [])
      .filter((route) => route.clusters.includes(cluster.name))
      .map((route) => ({ cluster, manager, route })),
  );
}
