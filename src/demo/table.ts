export type Cell = string;

/**
 * Lines of a table whose columns are as wide as their widest cell: the heading first. Columns stand to the right,
 * those whose heading starts with `<` to the left.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
): readonly string[] {
  const names = headings.map((heading) => heading.replace(/^</, ''));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [names, ...rows].map((row) =>
    widths
      .map((width, column) => {
        const cell = row[column] ?? '';
        return headings[column]?.startsWith('<') ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
