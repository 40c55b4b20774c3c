import { z } from 'zod';
import { configurationFile } from '../../src/config/schema.ts';

type Schema = z.core.$ZodType;

/** A map of the configuration file and its fields. */
export interface FieldMap {
  /** `ServerGroups[].Servers[]`; empty for the file itself. */
  readonly path: string;
  readonly schema: z.ZodObject;
  readonly fields: readonly Field[];
}

export interface Field {
  readonly key: string;
  readonly path: string;
  readonly schema: Schema;
  readonly description: string;
  /** What a value must be. */
  readonly rule: string;
  readonly absence: Absence;
  /** undefined: there is none. */
  readonly example: unknown;
  /** The map that it is, or that its items are. */
  readonly map: FieldMap | undefined;
}

/** What it means that a field is not there. */
export type Absence =
  | { readonly kind: 'mistake' }
  | { readonly kind: 'default'; readonly value: unknown }
  | { readonly kind: 'none' };

/** The whole file. */
export function configurationFields(): FieldMap {
  return fieldMap(configurationFile, '');
}

/** A map and those below it, each before its own; one that stands in several places comes once. */
export function allMaps(map: FieldMap): readonly FieldMap[] {
  const seen = new Map([[map.schema, map]]);
  for (const below of map.fields.flatMap((field) => (field.map === undefined ? [] : allMaps(field.map)))) {
    if (!seen.has(below.schema)) seen.set(below.schema, below);
  }
  return [...seen.values()];
}

/** What a value must be: the error for one that is nothing at all. */
export function ruleOf(schema: Schema): string {
  const bare = bareSchema(schema);
  const rule = z.safeParse(bare, Symbol('nothing')).error?.issues[0]?.message;
  if (rule === undefined) throw new Error('a field that takes everything has no rule');
  if (bare instanceof z.ZodRecord) {
    return `${rule}; the key: ${ruleOf(bare.keyType)}; the value: ${ruleOf(bare.valueType)}`;
  }
  if (bare instanceof z.ZodArray && mapSchema(bare, '') === undefined) {
    return `${rule}; each: ${ruleOf(bare.element)}`;
  }
  return rule;
}

function fieldMap(schema: z.ZodObject, path: string): FieldMap {
  const fields = Object.entries<Schema>(schema.shape).map(([key, field]) =>
    fieldOf(key, field, path === '' ? key : `${path}.${key}`),
  );
  return { path, schema, fields };
}

function fieldOf(key: string, schema: Schema, path: string): Field {
  const found = mapSchema(schema, path);
  return {
    key,
    path,
    schema,
    description: z.globalRegistry.get(schema)?.description ?? '',
    rule: ruleOf(schema),
    absence: absenceOf(schema),
    example: exampleOf(schema),
    map: found === undefined ? undefined : fieldMap(found.schema, found.path),
  };
}

function absenceOf(schema: Schema): Absence {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return { kind: 'default', value: schema.def.defaultValue };
  }
  return schema instanceof z.ZodOptional ? { kind: 'none' } : { kind: 'mistake' };
}

/** The example that the field brings, else one made of what it consists of; undefined: there is none. */
export function exampleOf(schema: Schema): unknown {
  const given = z.globalRegistry.get(schema)?.['examples'];
  if (Array.isArray(given)) return given[0];
  if (schema instanceof z.ZodOptional) return exampleOf(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const others = valuesOf(schema.unwrap()).filter((value) => value !== schema.def.defaultValue);
    return others.at(-1) ?? exampleOf(schema.unwrap());
  }
  if (schema instanceof z.ZodArray) return listExample(schema.element);
  if (schema instanceof z.ZodUnion) return schema.options.map(exampleOf).find((value) => value !== undefined);
  if (schema instanceof z.ZodObject) return mapExample(schema);
  return valuesOf(schema).at(-1);
}

function valuesOf(schema: Schema): readonly unknown[] {
  if (schema instanceof z.ZodBoolean) return [true, false];
  return schema instanceof z.ZodEnum ? schema.options : [];
}

function listExample(element: Schema): readonly unknown[] | undefined {
  const example = exampleOf(element);
  return example === undefined ? undefined : [example];
}

/** Of what must be there, or else of the first field. */
function mapExample(schema: z.ZodObject): object {
  const fields = Object.entries<Schema>(schema.shape);
  const required = fields.filter(([, field]) => absenceOf(field).kind === 'mistake');
  const shown = required.length > 0 ? required : fields.slice(0, 1);
  return Object.fromEntries(shown.map(([key, field]) => [key, exampleOf(field)]));
}

/** The schema without its default. */
function bareSchema(schema: Schema): Schema {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault || schema instanceof z.ZodOptional) {
    return bareSchema(schema.unwrap());
  }
  return schema;
}

/** The map that a field is, may be, or has as items or values. */
function mapSchema(
  schema: Schema,
  path: string,
): { readonly schema: z.ZodObject; readonly path: string } | undefined {
  const bare = bareSchema(schema);
  if (bare instanceof z.ZodObject) return { schema: bare, path };
  if (bare instanceof z.ZodArray) return mapSchema(bare.element, `${path}[]`);
  if (bare instanceof z.ZodRecord) return mapSchema(bare.valueType, `${path}.NAME`);
  if (!(bare instanceof z.ZodUnion)) return undefined;
  const option = bare.options.find((each) => each instanceof z.ZodObject);
  return option === undefined ? undefined : mapSchema(option, path);
}
