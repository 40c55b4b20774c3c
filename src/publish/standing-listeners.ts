import type { Listener } from '../core/model/configuration.ts';

/**
 * The listeners that sidecars are to have while some groups have no assignment: one that moves to such a group stays
 * where it was, also when the group that it was with is gone. A new one goes where it is to go.
 * @param before those that sidecars were to have so far
 */
export function standingListeners(
  listeners: readonly Listener[],
  before: readonly Listener[],
  isAssigned: (serverGroup: string) => boolean,
): readonly Listener[] {
  const standing = new Map(before.map((listener) => [listener.name, listener]));
  return listeners.map((listener) => {
    const former = standing.get(listener.name);
    const moves = former !== undefined && former.serverGroup !== listener.serverGroup;
    return moves && !isAssigned(listener.serverGroup) ? former : listener;
  });
}
