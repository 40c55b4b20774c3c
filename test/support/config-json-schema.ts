import { z } from 'zod';
import { configurationFile } from '../../src/config/schema.ts';
import { exampleOf, ruleOf } from './config-fields.ts';

/** What editors say of a text that does not match its pattern; no keyword of JSON Schema. */
export const PATTERN_ERROR = 'patternErrorMessage';

/** The JSON Schema of a configuration file as an operator writes it. */
export function configurationJsonSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(configurationFile, { io: 'input', override: addRule });
  const description =
    'Configuration of Plimsoll; plimsoll validate also checks the rules that need several fields.';
  return { $schema, title: 'Plimsoll', description, ...schema };
}

/** Editors show a description, but neither pattern nor range: it says what a text or number must be. With an example. */
function addRule({
  zodSchema,
  jsonSchema,
}: {
  readonly zodSchema: z.core.$ZodType;
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  const isPlain = ['string', 'integer', 'number'].some((type) => type === jsonSchema.type);
  if (!isPlain || jsonSchema.enum !== undefined) return;
  const rule = `It must be ${ruleOf(zodSchema)}.`;
  const description = z.globalRegistry.get(zodSchema)?.description;
  const example = exampleOf(zodSchema);
  if (description !== undefined) Object.assign(jsonSchema, { description: `${description} ${rule}` });
  if (example !== undefined) Object.assign(jsonSchema, { examples: [example] });
  if (jsonSchema.pattern !== undefined) Object.assign(jsonSchema, { [PATTERN_ERROR]: rule });
}
