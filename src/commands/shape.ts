/** @returns what is wrong with a value, with the path to it; undefined: nothing is. */
export type Shape = (value: unknown, path: string) => string | undefined;

export const aNumber: Shape = (value, path) =>
  typeof value === 'number' ? undefined : `${path} must be a number`;

export const aText: Shape = (value, path) =>
  typeof value === 'string' ? undefined : `${path} must be a text`;

export const aFlag: Shape = (value, path) =>
  typeof value === 'boolean' ? undefined : `${path} must be true or false`;

export function oneOf(texts: readonly string[]): Shape {
  return (value, path) =>
    texts.some((text) => text === value) ? undefined : `${path} must be one of ${texts.join(', ')}`;
}

export function orNull(shape: Shape): Shape {
  return (value, path) => (value === null ? undefined : shape(value, path));
}

export function listOf(shape: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, item] of value.entries()) {
      const wrong = shape(item, `${path}[${index}]`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** A shape for every field of `T`. */
export type Fields<T> = { readonly [Field in keyof T]-?: Shape };

/** An object with at least these fields. */
export function objectOf(fields: Readonly<Record<string, Shape>>): Shape {
  const shapes = Object.entries(fields);
  return (value, path) => {
    if (typeof value !== 'object' || value === null) return `${path === '' ? 'it' : path} must be an object`;
    const known: Readonly<Record<string, unknown>> = { ...value };
    for (const [field, shape] of shapes) {
      const wrong = shape(known[field], path === '' ? field : `${path}.${field}`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** A list that begins with items of these shapes. */
export function tupleOf(shapes: readonly Shape[]): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path} must be a list`;
    for (const [index, shape] of shapes.entries()) {
      const wrong = shape(value[index], `${path}[${index}]`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

/** May be left out. */
export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}
