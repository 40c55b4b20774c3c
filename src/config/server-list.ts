import type { z } from 'zod';
import { checkFields } from './check-fields.ts';
import { list } from './fields.ts';
import { formatPath, type Mistake } from './mistake.ts';
import type { ParsedList } from './parsed-list.ts';
import { server } from './sections/server-group.ts';
import { parseTree } from './tree.ts';

const RULE = 'a list of servers, [] if there are none';
const serverList = list(server, RULE);

/** A server of a list, in the words of `Servers`. */
export type ListedServer = z.output<typeof server>;

/**
 * Reads a list in the words of a group's `Servers`, YAML or JSON. JSON is read many times as fast.
 * @param file its name in mistakes
 */
export function parseServerList(text: string, file: string): ParsedList<ListedServer> {
  const checked = serverList.safeParse(parseJson(text));
  return checked.success ? { kind: 'list', items: checked.data } : parseYaml(text, file);
}

/** undefined: it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function parseYaml(text: string, file: string): ParsedList<ListedServer> {
  const tree = parseTree(text, file);
  if (tree.kind === 'broken') return { kind: 'invalid', mistakes: tree.mistakes };
  if (typeof tree.top.value === 'string') {
    // another file by mistake, perhaps one with a token: its words are not repeated
    const { line, column } = tree.top.at;
    const message = `the file is a text, but must be ${RULE}`;
    return { kind: 'invalid', mistakes: [{ file, line, column, path: '', message }] };
  }
  const mistakes: Mistake[] = [];
  const known = checkFields(
    tree.top,
    ({ line, column }, path, message) => {
      mistakes.push({ file, line, column, path: formatPath(path), message });
    },
    serverList,
  );
  if (mistakes.length > 0) return { kind: 'invalid', mistakes };
  return { kind: 'list', items: serverList.parse(known.value) };
}
