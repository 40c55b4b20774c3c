import { constants } from 'node:fs';
import { access } from 'node:fs/promises';

/** What is being asked, by folder: of one that hangs each question would keep a thread of the few that there are. */
const asked = new Map<string, Promise<boolean>>();

/** Whether this process may list a folder. On a network file system that hangs it does not resolve. */
export function isReadableFolder(folder: string): Promise<boolean> {
  const before = asked.get(folder);
  if (before !== undefined) return before;
  const answer = access(folder, constants.R_OK)
    .then(
      () => true,
      () => false,
    )
    .finally(() => asked.delete(folder));
  asked.set(folder, answer);
  return answer;
}
