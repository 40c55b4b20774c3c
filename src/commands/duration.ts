const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
/** A week. */
const MOST_SECONDS = 168 * 3600;

/** Seconds of `90s`, `10m` or `1.5h`, from 1 second to 168 hours; undefined: it is none. */
export function parseDuration(text: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?)([smh])$/.exec(text) ?? [];
  const seconds = Number(number) * (UNITS[unit] ?? 0);
  return seconds >= 1 && seconds <= MOST_SECONDS ? seconds : undefined;
}

/** `0:03:12`, the seconds rounded down. */
export function clockFace(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
