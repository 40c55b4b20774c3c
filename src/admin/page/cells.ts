/** What stands where nothing is known. */
export const UNKNOWN = '–';

/** Figures of a column, all with as many decimals, so that they stand below each other. */
export function integer(value: number | null): string {
  return value === null ? UNKNOWN : grouped(Math.round(value));
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** 0..100 */
export function score(value: number | null): string {
  return value === null ? UNKNOWN : String(Math.round(value));
}

/** 0..1 as `12.4 %`; what is not 0 does not look like it. */
export function percent(ratio: number | null, decimals = 1): string {
  if (ratio === null) return UNKNOWN;
  const least = 10 ** -decimals;
  const value = 100 * ratio;
  if (value > 0 && value < least / 2) return `<${least.toFixed(decimals)} %`;
  return `${value.toFixed(decimals)} %`;
}

/** `0.3 s`, `12 s`, `4 min`, `3 h`, `2 d` */
export function age(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  if (seconds < 99.5 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** How long something took: `40 ms`, `0.4 s`, `12 s` */
export function took(seconds: number | null): string {
  if (seconds === null) return UNKNOWN;
  return seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}
