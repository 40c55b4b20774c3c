import type { Listener } from '../core/model/configuration.ts';
import type { ServerGroup } from '../core/model/server-group.ts';

/**
 * The listeners that sidecars are to have while some groups wait for their backends: one that moves to such a group
 * stays where it was, if that group still is there and waits for nothing. A new one goes where it is to go.
 * @param before those that sidecars were to have so far
 */
export function standingListeners(
  {
    serverGroups,
    listeners,
  }: { readonly serverGroups: readonly ServerGroup[]; readonly listeners: readonly Listener[] },
  before: readonly Listener[],
  waits: (serverGroup: string) => boolean,
): readonly Listener[] {
  const groups = new Set(serverGroups.map(({ name }) => name));
  const standing = new Map(before.map((listener) => [listener.name, listener]));
  return listeners.map((listener) => {
    if (!waits(listener.serverGroup)) return listener;
    const former = standing.get(listener.name);
    const stays = former !== undefined && groups.has(former.serverGroup) && !waits(former.serverGroup);
    return stays ? former : listener;
  });
}
