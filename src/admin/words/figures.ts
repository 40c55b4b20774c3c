const SIGNIFICANT = 4;
/** What is left over from computing is no share. */
const LEAST_PERCENT = 1e-4;

/** Four significant digits, enough to compute a weight again to a thousandth: `0.6412`, `38.5`, `1,234`. */
export function figure(value: number): string {
  const [whole = '', fraction] = plain(value).split('.');
  return grouped(whole) + (fraction === undefined ? '' : `.${fraction}`);
}

function plain(value: number): string {
  const rounded = Number(value.toPrecision(SIGNIFICANT));
  if (Math.abs(rounded) >= 1e-6)
    return String(Math.abs(value) >= 10 ** SIGNIFICANT ? Math.round(value) : rounded);
  return '0';
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** As a factor after an operator: negative ones in brackets. */
export function operand(value: number): string {
  return value < 0 ? `(${figure(value)})` : figure(value);
}

/** 0..1 as `12.4 %`, `0.05 %` */
export function percent(ratio: number): string {
  const value = 100 * ratio;
  if (Math.abs(value) >= 1) return `${Number(value.toFixed(1))} %`;
  return `${Math.abs(value) < LEAST_PERCENT ? 0 : Number(value.toPrecision(2))} %`;
}

/** `40 ms`, `0.4 s`, `12.4 s`, `3 min 20 s`, `2 h 5 min` */
export function duration(seconds: number): string {
  if (seconds < 0.1) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 100) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function plural(count: number, one: string): string {
  return `${figure(count)} ${one}${count === 1 ? '' : 's'}`;
}
