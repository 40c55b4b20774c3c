import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Mistake } from './mistake.ts';

/** What a file with a list holds, or what is wrong with it. */
export type ParsedList<Item> =
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'invalid'; readonly mistakes: readonly Mistake[] };

/** What a large list holds, or what is wrong with the first piece that has mistakes, and how many more there are. */
export type ReadList<Item> =
  | { readonly kind: 'list'; readonly items: readonly Item[] }
  | { readonly kind: 'invalid'; readonly mistakes: readonly Mistake[]; readonly more: number };

/** A file with a list beyond this is not read: one of 10,000 backends has a tenth of it. */
export const LIST_BYTES_MAX = 8 * 1024 * 1024;
/** Characters of a text that is read in one go. */
const PIECE_LENGTH = 16 * 1024;

/**
 * Reads a list, a large one of YAML a piece at a time: a list of ten thousand items takes a second, and between the
 * pieces others get their turn. What is no YAML is read as a whole, for the line that it is in.
 */
export async function readList<Item>(
  text: string,
  parse: (text: string) => ParsedList<Item>,
): Promise<ReadList<Item>> {
  const items: Item[] = [];
  let mistakes: readonly Mistake[] = [];
  let more = 0;
  let itemsBefore = 0;
  let linesBefore = 0;
  for (const piece of piecesOf(text)) {
    const parsed = parse(piece);
    if (parsed.kind === 'list') for (const item of parsed.items) items.push(item);
    else if (piece === text) return asWhole(parsed);
    else if (!parsed.mistakes.every(({ path }) => ITEM.test(path))) return asWhole(parse(text));
    else if (mistakes.length > 0) more += parsed.mistakes.length;
    else {
      // once: the lines before a piece cost time as well
      const again = parse(`${'\n'.repeat(linesBefore)}${piece}`);
      const found = again.kind === 'invalid' ? again.mistakes : parsed.mistakes;
      mistakes = found.map((mistake) => ({ ...mistake, path: moved(mistake.path, itemsBefore) }));
    }
    itemsBefore += piece.match(ITEM_START)?.length ?? 0;
    linesBefore += piece.match(/\n/g)?.length ?? 0;
    await nextTurn();
  }
  return mistakes.length > 0 ? { kind: 'invalid', mistakes, more } : { kind: 'list', items };
}

function asWhole<Item>(parsed: ParsedList<Item>): ReadList<Item> {
  return parsed.kind === 'list' ? parsed : { ...parsed, more: 0 };
}

/** The item that a mistake is in. */
const ITEM = /^\[(\d+)\]/;
/** Where an item of a block sequence begins. */
const ITEM_START = /^-(?=\s)/gm;

/** Marks, comments and blank lines go before. Each line in one way only: else a text of many takes for ever. */
const BEGINS_WITH_ITEM = /^(?:(?:---)?[^\S\n]*\n|#[^\n]*\n)*-\s/;

/** The path of something in a piece as one in the whole list. */
function moved(path: string, itemsBefore: number): string {
  return path.replace(ITEM, (_, index: string) => `[${Number(index) + itemsBefore}]`);
}

/**
 * A large block sequence as several, each of some whole items: those begin with a hyphen that nothing stands before, and
 * nothing within an item does. Not where one may refer to another, or where there are several documents.
 */
function piecesOf(text: string): readonly string[] {
  if (
    text.length <= PIECE_LENGTH ||
    /(?:^|[\s[{,:])[&*][^\s,[\]{}]|^%|\n---|\n\.\.\./m.test(text) ||
    !BEGINS_WITH_ITEM.test(text)
  ) {
    return [text];
  }
  const pieces: string[] = [];
  let from = 0;
  for (const { index } of text.matchAll(ITEM_START)) {
    if (index - from < PIECE_LENGTH) continue;
    pieces.push(text.slice(from, index));
    from = index;
  }
  return [...pieces, text.slice(from)];
}
