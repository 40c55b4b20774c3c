import { at } from './at.ts';
import { integerWeights, type Proposal } from './dither.ts';
import { drainingEndpoints } from './draining.ts';
import type { Assignment, EndpointHealth } from './model/assignment.ts';
import type { Backend, BackendId } from './model/backend.ts';
import type { PublishReason } from './model/decision.ts';
import type { ServerGroup } from './model/server-group.ts';
import { byAddressThenPort, type Roster } from './roster.ts';

/** What sidecars were told last, and the weights without dither that it came from. */
export interface Published extends Proposal {
  readonly assignment: Assignment;
}

/** Total variation of the shares, 0..1, beyond which it is worth a rebuild in every sidecar. */
const WORTHWHILE = 0.02;
/**
 * Change of one share beyond which it is worth one by itself, as part of that share or of the mean one, whichever is most. In
 * a large group no single backend, not even one that hangs, could move {@link WORTHWHILE}; up to 12 healthy ones this never
 * moves less.
 */
const WORTHWHILE_OF_ONE = 0.25;
/** Change of the refused share beyond which it is worth one. */
const WORTHWHILE_DROP = 0.005;

/**
 * @param weights in roster order; 0: not in the assignment
 * @param healthOf by roster index
 * @param dropShare 0..0.95
 */
export function proposalOf(
  roster: Roster,
  weights: Float64Array,
  healthOf: (index: number) => EndpointHealth,
  dropShare: number,
): Proposal {
  const backends: Backend[] = [];
  const health: EndpointHealth[] = [];
  const chosen = new Float64Array(weights.length);
  let sum = 0;
  for (let index = 0; index < weights.length; index++) {
    const weight = at(weights, index);
    if (weight === 0) continue;
    chosen[backends.length] = weight;
    sum += weight;
    backends.push(at(roster.backends, index));
    health.push(healthOf(index));
  }
  const mean = sum / backends.length;
  return {
    backends,
    health,
    weights: chosen.subarray(0, backends.length).map((weight) => weight / mean),
    dropShare: Math.round(1000 * dropShare) / 1000,
    draining: roster.draining,
  };
}

/** As far as sidecars are told of it. */
type Told = Pick<ServerGroup, 'name' | 'mesh'>;

/** @param before what sidecars have so far */
export function publicationOf({ name, mesh }: Told, proposal: Proposal, before?: Published): Published {
  const integers = integerWeights(proposal);
  if (before !== undefined && hidesDrop(integers, proposal, before)) integers[0] = at(integers, 0) + 1;
  const endpoints = proposal.backends.map(({ address, port, zone }, position) => {
    const weight = at(integers, position);
    const health = at(proposal.health, position);
    return zone === undefined ? { address, port, weight, health } : { address, port, weight, health, zone };
  });
  const draining = drainingEndpoints(proposal, before?.assignment);
  const all = draining.length === 0 ? endpoints : [...endpoints, ...draining].sort(byAddressThenPort);
  const assignment = { serverGroup: name, endpoints: all, dropShare: proposal.dropShare };
  return { ...proposal, assignment: mesh === 'Istio' ? { ...assignment, mesh } : assignment };
}

/** Those that sidecars send nothing to: what their gauges show answers to no weight. */
export function unhealthyOf(published: Proposal | undefined): ReadonlySet<BackendId> {
  const { backends = [], health = [] } = published ?? {};
  return new Set(backends.filter((_, position) => at(health, position) === 'UNHEALTHY').map(({ id }) => id));
}

/** Why this proposal should go out; undefined: what is published is near enough. */
export function reasonToPublish(
  group: Told,
  proposal: Proposal,
  before: Published | undefined,
): PublishReason | undefined {
  return publishReason(proposal, before) ?? meshReason(group, before);
}

/**
 * What sidecars have after this proposal, and why it should go out if it should.
 * @param because why it should whatever it is
 */
export function nextPublication(
  group: Told,
  proposal: Proposal,
  before: Published | undefined,
  because?: PublishReason,
): { readonly publish: PublishReason | undefined; readonly published: Published } {
  const publish = reasonToPublish(group, proposal, before) ?? because;
  const stands = publish === undefined && before !== undefined;
  return { publish, published: stands ? before : publicationOf(group, proposal, before) };
}

/** The configured weights, all healthy, nothing refused: exactly these, however near the ones from before were. */
export function configuredPublication(
  group: Told,
  roster: Roster,
  before: Published | undefined,
): { readonly publish: PublishReason | undefined; readonly published: Published } {
  const proposal = proposalOf(roster, roster.shares, () => 'HEALTHY', 0);
  const reason = reasonToPublish(group, proposal, before);
  if (reason === undefined && before !== undefined && isSame(proposal, before)) {
    return { publish: undefined, published: before };
  }
  return {
    publish: reason ?? 'configuration',
    published: publicationOf(group, proposal, before),
  };
}

function meshReason({ mesh = 'None' }: Told, before: Published | undefined): PublishReason | undefined {
  return (before?.assignment.mesh ?? 'None') === mesh ? undefined : 'configuration';
}

/** Of proposals that have the same backends. */
function isSame({ weights, dropShare }: Proposal, before: Proposal): boolean {
  return (
    dropShare === before.dropShare &&
    weights.every((weight, index) => Math.abs(weight - at(before.weights, index)) < 1e-9)
  );
}

/** @returns undefined: what is published is near enough */
export function publishReason(
  proposal: Proposal,
  published: Published | undefined,
): PublishReason | undefined {
  if (published === undefined) return 'first';
  const before = published.backends;
  const { backends, health } = proposal;
  if (!areSameBackends(backends, before)) return 'membership';
  if (!areSameBackends(proposal.draining, published.draining)) return 'membership';
  if (health.some((state, position) => state !== published.health[position])) return 'health';
  if (backends.some((of, position) => isConfiguredAnew(of, before[position]))) return 'configuration';
  if (hasMovedDrop(proposal.dropShare, published.dropShare)) return 'admission';
  return haveMoved(sharesOf(proposal), sharesOf(published)) ? 'shares' : undefined;
}

function areSameBackends(backends: readonly Backend[], before: readonly Backend[]): boolean {
  return backends.length === before.length && backends.every(({ id }, place) => id === before[place]?.id);
}

function isConfiguredAnew({ weight, zone }: Backend, before: Backend | undefined): boolean {
  return weight !== before?.weight || zone !== before.zone;
}

/**
 * Whether Envoy would not see another share, since every weight stays as it is: where few weights have few shifts, the
 * hashes of two shares can come to the same ones.
 */
function hidesDrop(integers: Uint32Array, { dropShare }: Proposal, before: Published): boolean {
  const endpoints = before.assignment.endpoints.filter((of) => of.health !== 'DRAINING');
  if (dropShare === before.dropShare || endpoints.length !== integers.length) return false;
  return endpoints.every(({ weight }, position) => weight === at(integers, position));
}

/** The end of shedding is always worth it. */
function hasMovedDrop(share: number, before: number): boolean {
  return Math.abs(share - before) > WORTHWHILE_DROP || (share === 0 && before > 0);
}

/**
 * Whether so much of the traffic goes elsewhere that it is worth a rebuild: in total variation, or of one backend.
 * @param shares of the healthy, who are the same in both
 */
function haveMoved(shares: Float64Array, before: Float64Array): boolean {
  let moved = 0;
  for (let position = 0; position < shares.length; position++) {
    const [share, past] = [at(shares, position), at(before, position)];
    const change = Math.abs(share - past);
    if (change > WORTHWHILE_OF_ONE * Math.max(1 / shares.length, share, past)) return true;
    moved += change;
  }
  return moved / 2 > WORTHWHILE;
}

function sharesOf({ health, weights }: Proposal): Float64Array {
  return overSum(weights.filter((_, position) => health[position] === 'HEALTHY'));
}

function overSum(weights: Float64Array): Float64Array {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** Whether sidecars would do much the same by either: no difference that is worth a rebuild. */
export function areAlike(one: Assignment, other: Assignment): boolean {
  if (one.endpoints.length !== other.endpoints.length) return false;
  if (hasMovedDrop(one.dropShare, other.dropShare)) return false;
  for (let position = 0; position < one.endpoints.length; position++) {
    const [left, right] = [at(one.endpoints, position), at(other.endpoints, position)];
    if (left.address !== right.address || left.port !== right.port || left.health !== right.health)
      return false;
  }
  return !haveMoved(healthyShares(one), healthyShares(other));
}

function healthyShares({ endpoints }: Assignment): Float64Array {
  const healthy = endpoints.filter(({ health }) => health === 'HEALTHY');
  return overSum(Float64Array.from(healthy, ({ weight }) => weight));
}
