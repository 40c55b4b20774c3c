import type { Admission } from './admission.ts';
import type { Assignment } from './model/assignment.ts';
import type { ServerGroup } from './model/server-group.ts';
import { areAlike, type Published } from './publication.ts';
import type { GroupState } from './state.ts';

/** What the samples of an evaluation answer to. */
export interface LoopInput {
  readonly group: ServerGroup;
  /** What sidecars really had, for samples of the past; undefined: what was published here. */
  readonly inForce?: Assignment | undefined;
}

/**
 * Whether the samples answer to what was computed: what sidecars had is what this state came to. Where they do not, as in
 * a group that is only observed or in samples of the past under another configuration, a difference in load stays however
 * long one answers to it: whatever adds up over time would run to its bounds.
 */
export function isClosed({ published, computed }: GroupState, { group, inForce }: LoopInput): boolean {
  return group.mode !== 'Observe' && published === computed && isInForce(computed, { inForce });
}

/**
 * Whether a deviation tells what a backend copes with. Not where sessions keep to their backends: theirs is what came by
 * the shares of long ago, and stays until they end.
 */
export function teaches(before: GroupState, input: LoopInput): boolean {
  return input.group.keepsSessions !== true && isClosed(before, input);
}

/** Whether what comes to the backends comes by the shares that were published here, as far as is known. */
export function bringsWhatComes({ published }: GroupState, { group, inForce }: LoopInput): boolean {
  return group.sharesBackends !== true && group.keepsSessions !== true && isInForce(published, { inForce });
}

/** Whether sidecars had what was published here, as far as is known. */
function isInForce(published: Published | undefined, { inForce }: Pick<LoopInput, 'inForce'>): boolean {
  return inForce === undefined || published === undefined || areAlike(inForce, published.assignment);
}

/** The controller of the refused share with nothing added up but the share that is really refused. */
export function underShareInForce({ admission, published }: GroupState, { inForce }: LoopInput): Admission {
  const { dropShare = 0 } = inForce ?? published?.assignment ?? {};
  return { ...admission, integral: dropShare, engaged: admission.engaged || dropShare > 0, mostSeconds: 0 };
}
