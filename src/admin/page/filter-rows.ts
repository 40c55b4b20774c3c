import type { Row } from './rows.ts';

/** Those whose name, state, reason or failure holds every word of the text, in any case of letters. */
export function filterRows(rows: readonly Row[], text: string): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ id, state, health, why, failure }) => {
    const all = [id, ` ${state} `, health ?? '', why ?? '', failure ?? ''].join('\n').toLowerCase();
    return words.every((word) => (isState(word) ? state === word : all.includes(word)));
  });
}

/** `healthy` is not to find what is unhealthy. */
function isState(word: string): boolean {
  return word === 'healthy' || word === 'out';
}
