import type { Estimate } from './bootstrap.ts';

/** How figures are written for people. */

/** A share as a percentage without the sign: `97.4`. */
export function percent(share: number): string {
  return number(share * 100, 1);
}

/** `97.4 (96.1 to 98.2)`, of 100; without an interval `97.4`. */
export function percentWithInterval(estimate: Estimate): string {
  return withInterval(estimate, percent);
}

/** `0.62 (0.41 to 0.90)`; without an interval `0.62`. */
export function ratioWithInterval(estimate: Estimate): string {
  return withInterval(estimate, ratio);
}

/** `-1.3 (-2.0 to -0.4) points`, of shares. */
export function pointsWithInterval(difference: Estimate): string {
  return `${percentWithInterval(difference)} points`;
}

export function ratio(value: number): string {
  return number(value, value >= 99.5 ? 0 : 2);
}

/** Three digits that count: `15.1`, `0.45`, `0.032`. */
export function seconds(value: number): string {
  if (value === 0) return '0';
  if (value >= 10) return number(value, value >= 99.95 ? 0 : 1);
  return number(value, value >= 0.0995 ? 2 : 3);
}

export function number(value: number, digits: number): string {
  if (Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  // No `-0.0`.
  return value.toFixed(digits).replace(/^-(0\.?0*)$/, '$1');
}

function withInterval({ value, interval }: Estimate, write: (value: number) => string): string {
  return interval === undefined
    ? write(value)
    : `${write(value)} (${write(interval.low)} to ${write(interval.high)})`;
}
