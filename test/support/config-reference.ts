import { stringify } from 'yaml';
import { toYaml } from '../../src/config/to-yaml.ts';
import { allMaps, configurationFields, type Field, type FieldMap } from './config-fields.ts';

const HEADER = `\
# Configuration reference

<!-- Written by a test from src/config/schema.ts; UPDATE_GOLDEN=1 writes it anew. -->

Every field of the configuration file, a section for each map. [plimsoll.yaml](plimsoll.yaml) shows them in place,
[examples](examples) has files for common cases, and [plimsoll.schema.json](plimsoll.schema.json) tells the same to editors.

- Names of fields are as written, with their capitals. A field that is not known is a mistake.
- \`[]\` in a path is any item of a list, \`NAME\` a key of your choice.
- The unit stands at the end of the name (\`Seconds\`, \`Milliseconds\`, \`Bytes\`); \`Timeout\` and \`Interval\` are in seconds.
- \`plimsoll validate --config FILE\` checks a file, also by the rules that need several fields, and prints it with every
  default in place.
`;

const COLUMNS = ['field', 'must be', 'default', 'example', 'meaning'];

/** Every field of the configuration file, as Markdown. */
export function configurationReference(): string {
  const top = configurationFields();
  const maps = allMaps(top);
  return [HEADER, contents(top, maps), ...maps.map((map) => section(map, maps))].join('\n');
}

function contents(top: FieldMap, maps: readonly FieldMap[]): string {
  const sections = maps.filter((map) => map !== top);
  const lines = sections.map((map) => {
    const depth = sections.filter(({ path }) => map.path.startsWith(`${path}.`)).length;
    return `${'  '.repeat(depth)}- ${link(map)}\n`;
  });
  return lines.join('');
}

function section(map: FieldMap, maps: readonly FieldMap[]): string {
  const rows = [COLUMNS, COLUMNS.map(() => '---'), ...map.fields.map((field) => row(field, maps))];
  const table = rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  if (map.path === '') return `## The file\n\n${table}`;
  const fields = maps.flatMap((each) => each.fields);
  const [owner, ...others] = fields.filter((field) => field.map?.schema === map.schema);
  if (owner === undefined) throw new Error(`${map.path} belongs to no field`);
  const same = others.length === 0 ? '' : ` The same for ${others.map(({ key }) => code(key)).join(', ')}.`;
  const example = toYaml({ [owner.key]: owner.example });
  return `## ${code(map.path)}\n\n${prose(owner.description)}${same}\n\n\`\`\`yaml\n${example}\`\`\`\n\n${table}`;
}

function row(field: Field, maps: readonly FieldMap[]): readonly string[] {
  const map = maps.find(({ schema }) => schema === field.map?.schema);
  const { meaning, otherwise } = split(field);
  const isInSection = map !== undefined && typeof field.example === 'object';
  return [
    code(field.key),
    prose(field.rule) + (map === undefined ? '' : `, see ${link(map)}`),
    otherwise,
    isInSection ? 'in its section' : code(inline(field.example)),
    prose(meaning),
  ];
}

/** A default that depends on other fields stands in the description. */
function split({ absence, description }: Field): { readonly meaning: string; readonly otherwise: string } {
  const [, meaning, words] = /^(.*) Default: (.*)\.$/s.exec(description) ?? [];
  if (meaning !== undefined && words !== undefined) return { meaning, otherwise: prose(words) };
  return { meaning: description, otherwise: absent(absence) };
}

function absent(absence: Field['absence']): string {
  if (absence.kind === 'mistake') return '**required**';
  if (absence.kind === 'none') return 'none';
  return isEmptyMap(absence.value) ? 'its defaults' : code(inline(absence.value));
}

function isEmptyMap(value: unknown): boolean {
  return typeof value === 'object' && JSON.stringify(value) === '{}';
}

/** A value as YAML in one line. */
function inline(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim();
}

function link({ path }: FieldMap): string {
  const keys = path.split('.');
  const last = keys.at(-1) === 'NAME' ? keys.slice(-2) : keys.slice(-1);
  return `[${code(last.join('.'))}](#${anchor(path)})`;
}

/** As GitHub makes it of a heading. */
function anchor(path: string): string {
  return path.toLowerCase().replaceAll(/[^\w-]/g, '');
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function prose(text: string): string {
  return text.replaceAll(/[|*<]/g, String.raw`\$&`);
}
