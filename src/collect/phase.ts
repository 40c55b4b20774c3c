import type { BackendId } from '../core/model/backend.ts';

/**
 * When in a run, 0 to 1, a backend of a large group is asked: spread evenly by a hash (FNV-1a) of its id. The order
 * is another one in each run, so that backends that cannot be reached do not keep the same others waiting each time.
 */
export function phaseOf(id: BackendId, run: number): number {
  let hash = 0x811c9dc5;
  for (const character of `${run}/${id}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  // The low bits of the last characters have to reach the high ones.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 12;
  return (hash >>> 0) / 2 ** 32;
}
