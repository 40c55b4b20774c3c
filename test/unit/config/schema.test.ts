import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { configurationFile } from '../../../src/config/schema.ts';

interface JsonSchema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

function fields(schema: JsonSchema, path: string): readonly (readonly [path: string, field: JsonSchema])[] {
  const own = Object.entries(schema.properties ?? {}).map(
    ([key, field]) => [`${path}.${key}`, field] as const,
  );
  const items = [...(schema.items === undefined ? [] : [schema.items]), ...(schema.anyOf ?? [])];
  return [
    ...own,
    ...own.flatMap(([at, field]) => fields(field, at)),
    ...items.flatMap((item) => fields(item, path)),
  ];
}

test('every field says what it means', () => {
  const all = fields(z.toJSONSchema(configurationFile, { io: 'input' }) as JsonSchema, '');
  assert.ok(all.length >= 45, String(all.length));
  for (const [path, field] of all) assert.match(field.description ?? '', /^\S.*\.$/s, path);
});
