import type { BackendId } from './model/backend.ts';
import type { ServerGroup } from './model/server-group.ts';

/** Says of each group that follows the load whether one of its backends is in another group too. The others stay as they are. */
export function markShared(groups: readonly ServerGroup[]): readonly ServerGroup[] {
  const seen = new Set<BackendId>();
  const shared = new Set<BackendId>();
  for (const { servers } of groups) {
    for (const { id } of servers) (seen.has(id) ? shared : seen).add(id);
  }
  return groups.map((group) =>
    group.loadAware !== undefined && group.servers.some(({ id }) => shared.has(id))
      ? { ...group, sharesBackends: true }
      : group,
  );
}
