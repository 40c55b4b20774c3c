/** Steps into what Envoy prints: names of fields, places in lists. */
export type Path = readonly (string | number)[];

/**
 * What one finds of a single field: undefined where it is not set, null where it is set to what cannot be understood.
 */
export type Setting<T> = T | null | undefined;

/** The value at a path; undefined: there is none. */
export function at(value: unknown, ...path: Path): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Readonly<Record<string | number, unknown>>)[step];
  }
  return found;
}

export function isSet(value: unknown, ...path: Path): boolean {
  return at(value, ...path) !== undefined;
}

/** Empty where there is no list. */
export function listAt(value: unknown, ...path: Path): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/** undefined where there is no text. */
export function textAt(value: unknown, ...path: Path): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** Numbers of 64 bits are printed as text. */
export function numberAt(value: unknown, ...path: Path): Setting<number> {
  const found = at(value, ...path);
  if (found === undefined || typeof found === 'number') return found;
  return typeof found === 'string' && /^-?\d{1,20}(\.\d{1,20})?$/.test(found) ? Number(found) : null;
}

/** A duration, such as `0.200s`. */
export function secondsAt(value: unknown, ...path: Path): Setting<number> {
  const found = at(value, ...path);
  if (found === undefined) return undefined;
  const [, digits] = typeof found === 'string' ? (/^(-?\d{1,15}(?:\.\d{1,9})?)s$/.exec(found) ?? []) : [];
  return digits === undefined ? null : Number(digits);
}

/** A message around a number that is left out when it is 0, such as `healthy_panic_threshold`. */
export function percentAt(value: unknown, ...path: Path): Setting<number> {
  const found = at(value, ...path);
  if (found === undefined) return undefined;
  if (typeof found !== 'object' || found === null) return null;
  const number = numberAt(found, 'value');
  return number === undefined ? 0 : number;
}

/** What a message in an `Any` is: the last word of its `@type`. */
export function typeAt(value: unknown, ...path: Path): string | undefined {
  return textAt(value, ...path, '@type')
    ?.split('.')
    .at(-1);
}
