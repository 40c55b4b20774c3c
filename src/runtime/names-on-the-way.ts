import { readlink } from 'node:fs/promises';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { isReadableFolder } from './readable-folder.ts';

/** As many symbolic links as Linux follows on one path. */
const LINKS_MAX = 40;

/**
 * All that lies on the way to a file: the folders, links and the file itself, as the names in each folder that lead
 * there. Whatever is changed so that another content stands at `path`, one of these names has changed. As far as the
 * way exists, and without folders that may not be read. Never rejects; on a network file system that hangs it does not
 * resolve either.
 */
export async function namesOnTheWay(path: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const names = new Map<string, Set<string>>();
  let links = 0;
  let folder = parse(resolve(path)).root;
  let rest = stepsOf(resolve(path));
  for (let step = rest.shift(); step !== undefined; step = rest.shift()) {
    const at = join(folder, step);
    // to watch a folder asks the file system, and waits: of one that hangs it would not come back
    if (await isReadableFolder(folder)) names.set(folder, (names.get(folder) ?? new Set()).add(step));
    const target = await linkTarget(at);
    if (target === undefined) {
      folder = at;
    } else if (++links > LINKS_MAX) {
      break;
    } else {
      const absolute = resolve(dirname(at), target);
      folder = parse(absolute).root;
      rest = [...stepsOf(absolute), ...rest];
    }
  }
  return names;
}

function stepsOf(absolute: string): string[] {
  return absolute
    .slice(parse(absolute).root.length)
    .split(sep)
    .filter((step) => step !== '');
}

/** undefined: no link, or nothing at all. */
async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch {
    return undefined;
  }
}
