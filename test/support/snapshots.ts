import type { Resource, Snapshot } from '../../src/publish/snapshot-store.ts';
import { TYPE_URLS } from '../../src/xds/resources/type-urls.ts';

/** By kind of resource, then by name: the version. */
export type Contents = Readonly<Partial<Record<keyof typeof TYPE_URLS, Readonly<Record<string, string>>>>>;

/** A resource whose bytes say `name@version`, of a group of its name: for tests of what carries resources and does not look into them. */
export function resource(kind: keyof typeof TYPE_URLS, name: string, version: string): Resource {
  return {
    typeUrl: TYPE_URLS[kind],
    name,
    version,
    serverGroup: name,
    bytes: Buffer.from(`${name}@${version}`),
  };
}

/**
 * @param held names of endpoint resources
 * @param unpublished kinds that nothing is said of; the others are published, empty where `contents` has none
 */
export function snapshot(
  contents: Contents,
  held: readonly string[] = [],
  unpublished: readonly (keyof typeof TYPE_URLS)[] = [],
): Snapshot {
  const kinds = (Object.keys(TYPE_URLS) as (keyof typeof TYPE_URLS)[]).filter(
    (kind) => !unpublished.includes(kind),
  );
  const resources = new Map<string, Map<string, Resource>>(
    kinds.map((kind) => {
      const ofKind = Object.entries(contents[kind] ?? {}).map(([name, version]) =>
        resource(kind, name, version),
      );
      return [TYPE_URLS[kind], new Map(ofKind.map((each) => [each.name, each]))];
    }),
  );
  return { resources, held: new Map([[TYPE_URLS.endpoint, new Set(held)]]), assignments: new Map() };
}
