import type { GroupExplanation } from '../admin/explanation.ts';
import type { GroupState, State } from '../admin/state-shape.ts';
import type { EnvoyLbPolicy } from '../core/model/server-group.ts';
import type { GroupView, PlimsollView } from '../doctor/plimsoll-view.ts';
import { printable } from '../runtime/text.ts';
import type { AdminAccess } from './admin-access.ts';
import { askAdmin, errorIn } from './ask-admin.ts';
import { wrongInExplanation } from './explanation-shape.ts';
import { wrongInState } from './state-check.ts';

export type ReadState =
  | { readonly kind: 'state'; readonly state: State }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** What to do about it; undefined: the reason says it. */
      readonly hint?: string | undefined;
    };

export async function readState(access: AdminAccess): Promise<ReadState> {
  const answer = await askAdmin(access, '/state');
  if (answer.kind === 'unreachable') {
    return { kind: 'failed', reason: `cannot be asked: ${answer.reason}`, hint: answer.hint };
  }
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

/** What one replica said, before and after Envoy was asked: what that holds may be of either. */
export interface ReplicaStates {
  readonly access: AdminAccess;
  readonly before: State;
  readonly after: State;
}

/**
 * @param node the sidecar's id. What it has is of the replicas that serve it; where none of these does, all are told of.
 * @param wanted groups whose settings matter
 */
export async function plimsollView(
  replicas: readonly ReplicaStates[],
  { node, wanted }: { readonly node: string | undefined; readonly wanted: ReadonlySet<string> },
): Promise<PlimsollView> {
  const names = new Set(replicas.flatMap(({ after }) => after.groups.map(({ name }) => name)));
  const asked = new Set([...names].filter((name) => wanted.has(name)).slice(0, GROUPS_MAX));
  const groups = new Map<string, GroupView>();
  for (const name of names) {
    const serving = replicas.filter((replica) => acknowledgedTo(replica, name, node).length > 0);
    const tellers = serving.length > 0 ? serving : replicas;
    groups.set(name, {
      acknowledged: serving.flatMap((replica) => acknowledgedTo(replica, name, node)),
      versions: tellers.flatMap((replica) => versionsOf(replica, name)),
      envoyLbPolicy: asked.has(name) ? await policyOf(tellers, name) : undefined,
      zones: [
        ...new Set(tellers.flatMap(({ after }) => groupIn(after, name)?.zones ?? []).map(({ zone }) => zone)),
      ],
    });
  }
  return { groups };
}

/** Versions that sidecars of this node have. */
function acknowledgedTo(
  { before, after }: ReplicaStates,
  group: string,
  node: string | undefined,
): readonly string[] {
  if (node === undefined) return [];
  const shown = printable(node);
  return [before, after]
    .flatMap(({ sidecars }) => sidecars.shown.filter((of) => of.node === shown))
    .flatMap(({ groups }) => groups.filter(({ name }) => name === group))
    .map(({ version }) => version);
}

function versionsOf({ before, after }: ReplicaStates, name: string): readonly string[] {
  return [before, after].flatMap((state) => {
    const group = groupIn(state, name);
    return [
      ...(group?.published == null ? [] : [group.published.version]),
      ...(group?.zones ?? []).flatMap(({ version }) => version ?? []),
    ];
  });
}

function groupIn({ groups }: State, name: string): GroupState | undefined {
  return groups.find((group) => group.name === name);
}

/** Of one backend: what all have would be long. @param replicas the first that has it is asked */
async function policyOf(
  replicas: readonly ReplicaStates[],
  name: string,
): Promise<EnvoyLbPolicy | undefined> {
  const replica = replicas.find(({ after }) => groupIn(after, name) !== undefined);
  const backend = replica && groupIn(replica.after, name)?.backends[0]?.[0];
  if (replica === undefined || backend === undefined) return undefined;
  const path = `/explain/${encodeURIComponent(name)}?backend=${encodeURIComponent(backend)}`;
  const answer = await askAdmin(replica.access, path);
  if (answer.kind === 'unreachable' || answer.status !== 200) return undefined;
  if (wrongInExplanation(answer.body) !== undefined) return undefined;
  return (answer.body as GroupExplanation).published.decision.envoyLbPolicy;
}
