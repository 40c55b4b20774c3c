import { type Finding, Judge } from '../finding.ts';
import type { PlimsollView } from '../plimsoll-view.ts';
import { numberOf } from '../read-stats.ts';
import type { ClusterView, EnvoyView, HostsView } from '../view.ts';

export function checkEndpoints(cluster: ClusterView, view: Pick<EnvoyView, 'stats'>): readonly Finding[] {
  const judge = new Judge('endpoints', { cluster: cluster.name });
  const { hosts } = cluster;
  if (hosts === undefined) return [judge.unknown('/clusters does not say it')];
  if (hosts.total === 0) return [noEndpoints(judge, cluster, view)];
  const ejected = hosts.ejected + hosts.failedCheck;
  return [
    hosts.healthy === 0
      ? judge.warning({
          is: countsOf(hosts),
          shouldBe: 'at least one that takes requests',
          why: 'Every request is answered 503. UNHEALTHY is saturated: plimsoll explain GROUP says by what.',
        })
      : judge.ok(countsOf(hosts)),
    ...(ejected === 0
      ? []
      : [
          judge.warning({
            is: `${ejected} left out by Envoy itself`,
            shouldBe: 'none',
            why: "They fail requests or Envoy's own health checks: look at their logs. Plimsoll does not know of it.",
          }),
        ]),
  ];
}

function countsOf({ total, healthy, unhealthy, draining }: HostsView): string {
  return [
    `${total}: ${healthy} take requests`,
    ...(unhealthy > 0 ? [`${unhealthy} UNHEALTHY, which is saturated: no new requests`] : []),
    ...(draining > 0 ? [`${draining} DRAINING`] : []),
  ].join(', ');
}

function noEndpoints(judge: Judge, cluster: ClusterView, { stats }: Pick<EnvoyView, 'stats'>): Finding {
  const stat = (name: string) => numberOf(stats, `cluster.${cluster.statName}.${name}`);
  const isAnswered = (stat('update_success') ?? 0) > 0;
  const why = isAnswered
    ? `What the control plane has under ${cluster.serviceName} is empty: is that the name of a server group?`
    : 'No assignment has come yet: the control plane cannot be reached, or Envoy refused what came.';
  return judge.error({
    is: cluster.warming ? 'none yet: the cluster is warming' : 'none',
    shouldBe: 'those of the server group',
    why: `${why} Every request is answered 503.`,
  });
}

/** Whether what Envoy holds is what Plimsoll has published. */
export function checkHeldVersion(
  cluster: ClusterView,
  view: Pick<EnvoyView, 'stats'>,
  plimsoll: PlimsollView | undefined,
): Finding {
  const judge = new Judge('version_text', { cluster: cluster.name });
  const held = heldVersion(cluster, view);
  if (held === undefined) {
    return judge.unknown('Envoy names no version: no assignment has come yet, or it is too old to say');
  }
  if (plimsoll === undefined)
    return judge.ok(`${held}; with --admin URL it is compared to the published one`);
  const group = plimsoll.groups.get(cluster.serviceName);
  const latest = group?.versions.at(-1);
  if (latest === undefined) return judge.unknown('Plimsoll has published nothing under this name');
  if (holdsPublished(cluster, view, plimsoll)) return judge.ok(`${held}, as published`);
  if (group?.acknowledged.includes(held) !== true) {
    return judge.ok(
      `${held}, not compared: it comes from another replica, whose weights differ a little; give --admin URL for each`,
    );
  }
  return judge.error({
    is: held,
    shouldBe: latest,
    why: 'Envoy has an older assignment than the published one: it does not answer, or has refused it. Its log and that of Plimsoll say more.',
  });
}

/** false: it does not, or it is not known. */
export function holdsPublished(
  cluster: ClusterView,
  view: Pick<EnvoyView, 'stats'>,
  plimsoll: PlimsollView | undefined,
): boolean {
  const held = heldVersion(cluster, view);
  return held !== undefined && plimsoll?.groups.get(cluster.serviceName)?.versions.includes(held) === true;
}

/** undefined: Envoy names none. */
function heldVersion({ statName }: ClusterView, { stats }: Pick<EnvoyView, 'stats'>): string | undefined {
  const held = stats?.get(`cluster.${statName}.version_text`);
  return typeof held === 'string' && held !== '' ? held : undefined;
}

/** @param isCurrent it holds what is published */
export function checkRejected(
  { name, statName }: ClusterView,
  { stats }: Pick<EnvoyView, 'stats'>,
  isCurrent: boolean,
): Finding {
  const judge = new Judge('update_rejected', { cluster: name });
  const count = numberOf(stats, `cluster.${statName}.update_rejected`);
  if (count === undefined) return judge.unknown(`there is no stat cluster.${statName}.update_rejected`);
  if (count === 0) return judge.ok('0');
  const fault = {
    is: String(count),
    shouldBe: '0',
    why: `Envoy has refused assignments since its start${isCurrent ? ', though not the latest' : ''}. Plimsoll's log says what it disliked; please report it.`,
  };
  return isCurrent ? judge.warning(fault) : judge.error(fault);
}

const OTHERS = /^(cluster_manager\.cds|listener_manager\.lds|http\..+\.rds\..+)\.update_rejected$/;

/** Of each kind that are named. */
const REFUSED_MAX = 20;

/** A listener that is refused says so with its reason: the count says no more. */
function isTold(name: string, refused: readonly string[]): boolean {
  return refused.length > 0 && name.startsWith('listener_manager.');
}

/** What else has come over xDS: clusters, listeners, routes. */
export function checkOtherRejected({
  stats,
  refused,
}: Pick<EnvoyView, 'stats' | 'refused'>): readonly Finding[] {
  const judge = new Judge('update_rejected', {});
  const counts = [...(stats ?? [])].filter(
    ([name, value]) => OTHERS.test(name) && typeof value === 'number' && value > 0,
  );
  if (counts.length === 0 && refused.length === 0) return [judge.ok('0 clusters, listeners and routes')];
  return [
    ...refused.slice(0, REFUSED_MAX).map((reason) =>
      judge.error({
        is: reason,
        shouldBe: 'accepted by Envoy',
        why: 'Envoy goes on with what it had before, or without.',
      }),
    ),
    ...counts
      .filter(([name]) => !isTold(name, refused))
      .slice(0, REFUSED_MAX)
      .map(([name, value]) =>
        judge.warning({
          is: `${name} is ${value}`,
          shouldBe: '0',
          why: "Since its start Envoy has refused something of its control plane; both sides' logs say what.",
        }),
      ),
  ];
}
