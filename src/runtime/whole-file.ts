import { realpath, stat } from 'node:fs/promises';
import { type Clock, sleep } from './clock.ts';

/** Which file is there under a name. */
export interface FilePlace {
  /** Where symbolic links lead; undefined: to nothing. */
  readonly path: string | undefined;
  /** Another one when another file is there. */
  readonly inode: string | undefined;
  /** Nothing has happened to it since it was written to: it was not renamed after that. */
  readonly isWrittenLast: boolean;
}

/** Where nothing was seen. */
export const NOWHERE: FilePlace = { path: undefined, inode: undefined, isWrittenLast: true };

/** What was seen under the name of a file. */
export interface SeenFile {
  /** Another one when it says something else. */
  readonly digest: string;
  /** Taken before what it says, so that another file that comes in between counts as written in place. */
  readonly place: FilePlace;
}

/** Never rejects: what cannot be looked at is nowhere. */
export async function placeOf(file: string): Promise<FilePlace> {
  try {
    const path = await realpath(file);
    const { dev, ino, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return { path, inode: `${dev} ${ino}`, isWrittenLast: mtimeNs === ctimeNs };
  } catch {
    return NOWHERE;
  }
}

/**
 * What a file says that is whole: one that was put there whole, by renaming it or by another target of a symbolic link,
 * at once; one that is written in place, or created under its name, when it has said the same for a moment, as half of
 * it may be valid.
 *
 * @param options.before what was made of it last; its digest undefined: nothing, or it is not known
 * @param options.standsMs how long it has to say the same
 * @param options.waitsMax it is taken then, though something writes to it all the time
 * @returns undefined: `signal` has ended the wait.
 * @throws what `look` throws.
 */
export async function wholeFile<Seen extends SeenFile>(options: {
  readonly look: () => Promise<Seen>;
  readonly before: { readonly digest: string | undefined; readonly place: FilePlace };
  readonly standsMs: number;
  readonly waitsMax: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<Seen | undefined> {
  const { look, before, standsMs, waitsMax, clock, signal } = options;
  let { place } = before;
  let seen = await look();
  for (let waits = 0; waits < waitsMax; waits++) {
    if (seen.digest === before.digest || !mayGrow(seen.place, place)) break;
    const { digest } = seen;
    ({ place } = seen);
    if (!(await sleep(clock, standsMs, signal))) return undefined;
    seen = await look();
    if (seen.digest === digest) break;
  }
  return seen;
}

/** Whether more may be written to what is there now. */
function mayGrow(now: FilePlace, before: FilePlace): boolean {
  if (now.path !== before.path && now.path !== undefined && before.path !== undefined) return false;
  return now.inode === before.inode || now.isWrittenLast;
}
