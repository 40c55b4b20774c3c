import type { EnvoyLbPolicy } from '../../core/model/server-group.ts';
import { type Finding, Judge, type Mend } from '../finding.ts';
import { clusterMend, zoneRoutingMend } from '../mends.ts';
import type { PlimsollView } from '../plimsoll-view.ts';
import type { BalancingView, ClusterView, EnvoyView } from '../view.ts';

const FIELDS = [['lb_policy'], ['least_request_lb_config']];
const BIAS = 2;

const POLICIES: Readonly<Record<string, EnvoyLbPolicy>> = {
  LEAST_REQUEST: 'LeastRequest',
  ROUND_ROBIN: 'RoundRobin',
};

/** What other policies make of weights. */
const OTHERS: Readonly<Record<string, string>> = {
  RANDOM: 'It takes no notice of weights.',
  Random: 'It takes no notice of weights.',
  ClientSideWeightedRoundRobin: 'It puts weights of its own in place of those that Plimsoll sets.',
  RING_HASH:
    'It goes by a hash of the request: weights only change the size of the parts, and each change moves clients.',
  RingHash:
    'It goes by a hash of the request: weights only change the size of the parts, and each change moves clients.',
  MAGLEV:
    'It goes by a hash of the request: weights only change the size of the parts, and each change moves clients.',
  Maglev:
    'It goes by a hash of the request: weights only change the size of the parts, and each change moves clients.',
};

export function checkLbPolicy(
  { name, serviceName, balancing }: ClusterView,
  plimsoll: PlimsollView | undefined,
): Finding {
  const judge = new Judge('lb_policy', { cluster: name });
  const { policy, bias } = balancing;
  const expected = plimsoll?.groups.get(serviceName)?.envoyLbPolicy;
  const found = Object.hasOwn(POLICIES, policy) ? POLICIES[policy] : undefined;
  if (found === undefined) return otherPolicy(judge, balancing, expected);
  if (expected !== undefined && expected !== found) return mismatch(judge, balancing, expected, found);
  if (found === 'RoundRobin') {
    return judge.ok(expected === undefined ? `${policy}, for groups with EnvoyLbPolicy: RoundRobin` : policy);
  }
  if (bias === null) return judge.unreadable();
  if (bias === BIAS) return judge.ok(`${policy}, active_request_bias ${bias}`);
  return judge.warning({
    is: `${policy}, active_request_bias ${bias === undefined ? 'not set, so 1' : bias}`,
    shouldBe: `active_request_bias ${BIAS}`,
    why: 'Plimsoll reckons with 2: with another one weights count for more, or for less, than they should.',
    mend: mendFor(balancing, 'LeastRequest'),
  });
}

function otherPolicy(judge: Judge, balancing: BalancingView, expected: EnvoyLbPolicy | undefined): Finding {
  const { policy } = balancing;
  const known = Object.hasOwn(OTHERS, policy) ? OTHERS[policy] : undefined;
  const fault = {
    is: policy === '' ? 'a load_balancing_policy without a type' : policy,
    shouldBe: 'LEAST_REQUEST or ROUND_ROBIN',
    why: known ?? 'What it makes of weights is not known here.',
    mend: mendFor(balancing, expected ?? 'LeastRequest'),
  };
  return known === undefined ? judge.warning(fault) : judge.error(fault);
}

function mismatch(
  judge: Judge,
  balancing: BalancingView,
  expected: EnvoyLbPolicy,
  found: EnvoyLbPolicy,
): Finding {
  return judge.error({
    is: balancing.policy,
    shouldBe: `as the group's EnvoyLbPolicy says: ${expected}`,
    why: `The strength of Plimsoll's feedback depends on it. Change this, or give the group EnvoyLbPolicy: ${found}.`,
    mend: mendFor(balancing, expected),
  });
}

function mendFor({ extension }: BalancingView, policy: EnvoyLbPolicy): Mend {
  const mend = clusterMend(policy === 'LeastRequest' ? FIELDS : [['lb_policy']], policy);
  return extension ? { ...mend, yaml: `# in place of load_balancing_policy\n${mend.yaml}` } : mend;
}

/** What else stands between Plimsoll's weights and the balancing. */
export function checkLocality({ name, balancing }: ClusterView): Finding {
  const judge = new Judge('locality_weighted_lb_config', { cluster: name });
  const { localityWeighted, subsets } = balancing;
  if (localityWeighted) {
    return judge.warning({
      is: 'set',
      shouldBe: 'left out',
      why: 'Envoy then chooses a zone before it chooses a backend, and weighs in its own requests in flight only within the zone.',
    });
  }
  if (!subsets) return judge.ok('not set');
  return judge.warning({
    is: 'not set, but lb_subset_config is',
    shouldBe: 'no lb_subset_config',
    why: "Plimsoll's endpoints have no metadata: a request that asks for a subset finds none.",
  });
}

/** Only where there is something to route by. */
export function checkZoneRouting(
  { name, balancing }: ClusterView,
  { hasLocalCluster }: Pick<EnvoyView, 'hasLocalCluster'>,
): readonly Finding[] {
  const judge = new Judge('zone_aware_lb_config', { cluster: name });
  const { localityWeighted, zoneRouting, extension } = balancing;
  if (!hasLocalCluster || localityWeighted) return [];
  if (zoneRouting === null) return [judge.unreadable()];
  if (zoneRouting === 0) return [judge.ok('routing_enabled 0 %')];
  return [
    judge.error({
      is: `${zoneRouting === undefined ? 'not set, so 100 %' : `routing_enabled ${zoneRouting} %`}, and the bootstrap has a local_cluster_name`,
      shouldBe: 'routing_enabled 0 %',
      why: 'Envoy keeps requests in its own zone whatever the weights say. Plimsoll does that by weights: Locality: Prefer.',
      mend: zoneRoutingMend(extension),
    }),
  ];
}

export function checkSlowStart({ name, balancing }: ClusterView): readonly Finding[] {
  if (!balancing.slowStart) return [];
  return [
    new Judge('slow_start_config', { cluster: name }).warning({
      is: 'set',
      shouldBe: 'left out',
      why: 'Plimsoll lets a backend that joins ramp up by its weight: the two together hold it back twice.',
    }),
  ];
}
