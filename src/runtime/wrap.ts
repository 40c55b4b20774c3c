/** What stands between two things that are said. */
export const GAP = '   ';

/** Lines of at most `width`, as far as no part is longer, of what is said one after the other. */
export function wrapped(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts.filter((text) => text !== '')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + GAP.length + part.length > width) lines.push(part);
    else lines[lines.length - 1] = last + GAP + part;
  }
  return lines;
}

/** A text in lines of at most `width` as far as no word is longer; all but the first are set in. */
export function folded(text: string, width: number): readonly string[] {
  const [indent = ''] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  for (const word of text.trimStart().split(' ')) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(indent + word);
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent}  ${word}`);
  }
  return lines;
}
