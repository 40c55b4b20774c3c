const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const minuteOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-CA', { year: 'numeric', month: '2-digit', day: '2-digit' });

/** `19:02:11`, in the time zone of the browser. */
export function clockTime(unixMs: number): string {
  return timeOfDay.format(unixMs);
}

/** `19:02` */
export function minuteTime(unixMs: number): string {
  return minuteOfDay.format(unixMs);
}

/** `2026-11-30 19:02:11` */
export function dateTime(unixMs: number): string {
  return `${day.format(unixMs)} ${clockTime(unixMs)}`;
}
