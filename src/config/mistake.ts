import { printable } from '../runtime/text.ts';

/** One thing that is wrong with a configuration file. */
export interface Mistake {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units. */
  readonly column: number;
  /** `ServerGroups[0].Servers[1].Port`; empty when the mistake is about the whole file or its syntax. */
  readonly path: string;
  /** What is wrong, the value, what is allowed. */
  readonly message: string;
}

/** FILE:LINE:COLUMN: path.to.Field: what is wrong, the value, what is allowed */
export function formatMistake(mistake: Mistake): string {
  const where = `${printable(mistake.file, 1000)}:${mistake.line}:${mistake.column}: `;
  return mistake.path === '' ? where + mistake.message : `${where}${mistake.path}: ${mistake.message}`;
}

/** Beyond, nobody reads on: the first ones are mended, and the rest shows again. */
export const MISTAKES_SHOWN = 500;

/** A line each, and where there are more than 500 a last one that says how many more. */
export function formatMistakes(mistakes: readonly Mistake[]): readonly string[] {
  const shown = mistakes.slice(0, MISTAKES_SHOWN).map(formatMistake);
  const more = mistakes.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more mistakes`];
}

export type Path = readonly (string | number)[];

/** `['Servers', 1, 'Port']` as `Servers[1].Port`. */
export function formatPath(path: Path): string {
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${printable(step, 60)}`))
    .join('')
    .replace(/^\./, '');
}

/** A value as a message shows it: one line, printable, cut. */
export function showValue(value: unknown): string {
  if (value === null) return 'empty';
  if (typeof value === 'string') return `"${printable(value, 60)}"`;
  if (typeof value === 'number') return showNumber(value);
  if (typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return 'a map';
  return value.length === 0 ? 'an empty list' : 'a list';
}

/** What stands for the value of a header where a whole configuration is shown. */
export const REDACTED = '<redacted>';

/** A value of which a message shows no more than its kind: it may be a secret. */
export function hideValue(value: unknown): string {
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text that is not shown here';
  if (typeof value === 'number') return 'a number without quotes';
  return typeof value === 'boolean' ? 'a truth value without quotes' : showValue(value);
}

function showNumber(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? '.nan' : value > 0 ? '.inf' : '-.inf';
}
