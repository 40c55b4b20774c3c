/**
 * A line of sentences as lines of no more than so many columns, those after the first two deeper than it; a word that is
 * longer stands for itself.
 * @param columns undefined: as it is
 */
export function wrapped(line: string, columns: number | undefined): readonly string[] {
  if (columns === undefined || line.length <= columns) return [line];
  const indent = /^ */.exec(line)?.[0] ?? '';
  const lines: string[] = [];
  let current = indent;
  for (const word of line.slice(indent.length).split(' ')) {
    const isFirst = current.trim() === '';
    if (!isFirst && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = `${indent}  ${word}`;
    } else current += isFirst ? word : ` ${word}`;
  }
  return [...lines, current];
}
