/**
 * Makes `protos/generated/envoy.json`, a descriptor of the messages and fields named in messages.ts and nothing else,
 * which loads in a few milliseconds.
 *
 * The sources are the .proto files that the development dependency `@grpc/grpc-js-xds` carries. The result is made by
 * `npm run build` and is not committed: it follows from messages.ts and the locked version of that package. Equal
 * inputs give equal bytes.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { FILES, MESSAGES } from './messages.ts';
import { readProtos } from './sources.ts';

interface Namespace {
  readonly nested: Record<string, unknown>;
}

/** The descriptor of one message with the listed fields only. Adds the enums that they refer to. */
function reduceMessage(type: protobuf.Type, names: readonly string[], enums: Set<protobuf.Enum>): object {
  const fields: Record<string, object> = {};
  const oneofs: Record<string, { readonly oneof: string[] }> = {};
  for (const name of names) {
    const field = type.fieldsArray.find((candidate) => candidate.protoName === name);
    if (field === undefined) throw new Error(`protos/messages.ts: ${type.fullName} has no field ${name}`);
    if (field.resolvedType instanceof protobuf.Enum) enums.add(field.resolvedType);
    if (field.resolvedType instanceof protobuf.Type) requireListed(field, field.resolvedType);
    // protobufjs keeps the case of google.protobuf.Any's fields only
    const camelCase = protobuf.util.jsonName(name);
    fields[camelCase] = { ...reduceField(field), ...(camelCase === name ? {} : { protoName: name }) };
    if (field.partOf !== null) (oneofs[field.partOf.name] ??= { oneof: [] }).oneof.push(camelCase);
  }
  return { ...(Object.keys(oneofs).length > 0 ? { oneofs } : {}), fields };
}

function requireListed(field: protobuf.Field, type: protobuf.Type): void {
  const name = type.fullName.slice(1);
  if (MESSAGES[name] !== undefined) return;
  throw new Error(`protos/messages.ts: ${field.fullName} refers to ${name}, which is not listed`);
}

function reduceField(field: protobuf.Field): object {
  return {
    ...(field.repeated ? { rule: 'repeated' } : {}),
    ...(field instanceof protobuf.MapField ? { keyType: field.keyType } : {}),
    type: field.resolvedType?.fullName ?? field.type,
    id: field.id,
  };
}

/** Puts a descriptor where its full name says, beside what is nested there already. */
function place(root: Namespace, fullName: string, descriptor: object): void {
  const path = fullName.split('.');
  const last = path.pop() ?? '';
  let parent = root.nested;
  for (const name of path) {
    const namespace = (parent[name] ??= {}) as { nested?: Record<string, unknown> };
    parent = namespace.nested ??= {};
  }
  parent[last] = { ...descriptor, ...(parent[last] as object | undefined) };
}

const protos = readProtos(FILES);
const enums = new Set<protobuf.Enum>();
const bundle: Namespace = { nested: {} };
for (const name of Object.keys(MESSAGES).sort()) {
  place(bundle, name, reduceMessage(protos.lookupType(name), MESSAGES[name] ?? [], enums));
}
for (const { fullName, values } of enums) place(bundle, fullName.slice(1), { values });

const folder = new URL('generated/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('envoy.json', folder), `${JSON.stringify(bundle)}\n`);
