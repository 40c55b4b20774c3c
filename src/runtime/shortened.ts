/** At most `limit` lines or names, 2 or more: of more than that, the last says how many are left out. */
export function shortened(items: readonly string[], limit: number): readonly string[] {
  if (items.length <= limit) return items;
  return [...items.slice(0, limit - 1), `and ${items.length - limit + 1} more`];
}
