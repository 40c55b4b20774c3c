import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Mistake } from './mistake.ts';

/** What a file with a list holds, or what is wrong with it. */
export type ParsedList<Item> =
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'invalid'; readonly mistakes: readonly Mistake[] };

/** Characters of a text that is read in one go. */
const PIECE_LENGTH = 16 * 1024;

/**
 * Reads a list, a large one of YAML a piece at a time: a list of ten thousand items takes a second, and between the
 * pieces others get their turn. One with a mistake is read as a whole, for the line that it is in.
 */
export async function readList<Item>(
  text: string,
  parse: (text: string) => ParsedList<Item>,
): Promise<ParsedList<Item>> {
  const items: Item[] = [];
  for (const piece of piecesOf(text)) {
    const parsed = parse(piece);
    if (parsed.kind === 'invalid') return piece === text ? parsed : parse(text);
    for (const item of parsed.items) items.push(item);
    await nextTurn();
  }
  return { kind: 'list', items };
}

/**
 * A large block sequence as several, each of some whole items: those begin with a hyphen that nothing stands before, and
 * nothing within an item does. Not where one may refer to another, or where there are several documents.
 */
function piecesOf(text: string): readonly string[] {
  if (
    text.length <= PIECE_LENGTH ||
    /[&*]|^%|\n---|\n\.\.\./m.test(text) ||
    !/^(?:---\s*\n|#.*\n|\s*\n)*-\s/.test(text)
  ) {
    return [text];
  }
  const pieces: string[] = [];
  let from = 0;
  for (const { index } of text.matchAll(/^-(?=\s)/gm)) {
    if (index - from < PIECE_LENGTH) continue;
    pieces.push(text.slice(from, index));
    from = index;
  }
  return [...pieces, text.slice(from)];
}
