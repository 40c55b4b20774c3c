import { printable } from '../runtime/text.ts';

const NAMES_SHOWN = 10;

/** Names from outside, as many as can be taken in. */
export function listed(names: readonly string[]): string {
  const more = names.length - NAMES_SHOWN;
  const shown = names.slice(0, NAMES_SHOWN).map((name) => printable(name));
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
