import type { GroupExplanation } from '../admin/explanation.ts';
import type { State } from '../admin/state-shape.ts';
import type { EnvoyLbPolicy } from '../core/model.ts';
import type { GroupView, PlimsollView } from '../doctor/plimsoll-view.ts';
import type { AdminAccess } from './admin-access.ts';
import { askAdmin, errorIn } from './ask-admin.ts';
import { wrongInExplanation } from './explanation-shape.ts';
import { wrongInState } from './state-check.ts';

export type ReadState =
  | { readonly kind: 'state'; readonly state: State }
  | { readonly kind: 'failed'; readonly reason: string };

export async function readState(access: AdminAccess): Promise<ReadState> {
  const answer = await askAdmin(access, '/state');
  if (answer.kind === 'unreachable') return { kind: 'failed', reason: `cannot be asked: ${answer.reason}` };
  if (answer.status !== 200) {
    return { kind: 'failed', reason: `answered ${answer.status}: ${errorIn(answer)}` };
  }
  const wrong = wrongInState(answer.body);
  return wrong === undefined
    ? { kind: 'state', state: answer.body as State }
    : { kind: 'failed', reason: `answered something else than a state (${wrong})` };
}

/** More are not asked for one by one. */
const GROUPS_MAX = 100;

/**
 * @param before and @param after states between which Envoy was asked: what it holds may be of either.
 * @param wanted groups whose settings matter
 */
export async function plimsollView(
  access: AdminAccess,
  { before, after, wanted }: { before: State; after: State; wanted: ReadonlySet<string> },
): Promise<PlimsollView> {
  const asked = new Set(after.groups.map(({ name }) => name).filter((name) => wanted.has(name)));
  const policies = new Map<string, EnvoyLbPolicy>();
  for (const name of [...asked].slice(0, GROUPS_MAX)) {
    const policy = await policyOf(access, after, name);
    if (policy !== undefined) policies.set(name, policy);
  }
  const groups = after.groups.map(({ name, published }): [string, GroupView] => {
    const earlier = before.groups.find((group) => group.name === name)?.published;
    const versions = [earlier?.version, published?.version].filter((version) => version !== undefined);
    return [name, { versions, envoyLbPolicy: policies.get(name) }];
  });
  return { groups: new Map(groups) };
}

/** Of one backend: what all have would be long. */
async function policyOf(
  access: AdminAccess,
  state: State,
  group: string,
): Promise<EnvoyLbPolicy | undefined> {
  const backend = state.groups.find(({ name }) => name === group)?.backends[0]?.[0];
  if (backend === undefined) return undefined;
  const path = `/explain/${encodeURIComponent(group)}?backend=${encodeURIComponent(backend)}`;
  const answer = await askAdmin(access, path);
  if (answer.kind === 'unreachable' || answer.status !== 200) return undefined;
  if (wrongInExplanation(answer.body) !== undefined) return undefined;
  return (answer.body as GroupExplanation).published.decision.envoyLbPolicy;
}
