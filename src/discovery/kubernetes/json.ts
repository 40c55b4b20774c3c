/** Readers of JSON from outside: whatever is not there, or of another type, is undefined or empty. */

export function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

export function textOf(value: unknown, ...path: readonly string[]): string | undefined {
  const found = fieldOf(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** As where an empty text means that there is none. */
export function filledTextOf(value: unknown, ...path: readonly string[]): string | undefined {
  const found = textOf(value, ...path);
  return found === '' ? undefined : found;
}

export function numberOf(value: unknown, ...path: readonly string[]): number | undefined {
  const found = fieldOf(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

export function flagOf(value: unknown, ...path: readonly string[]): boolean | undefined {
  const found = fieldOf(value, ...path);
  return typeof found === 'boolean' ? found : undefined;
}

export function listOf(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldOf(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Whether it is a port that one can connect to. */
export function isPort(value: number | undefined): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 1 && value <= 65535;
}
