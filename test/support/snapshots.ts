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

/** @param held names of endpoint resources. */
export function snapshot(contents: Contents, held: readonly string[] = []): Snapshot {
  const resources = new Map<string, Map<string, Resource>>();
  for (const [kind, versions] of Object.entries(contents) as [
    keyof typeof TYPE_URLS,
    Record<string, string>,
  ][]) {
    const ofKind = Object.entries(versions).map(([name, version]) => resource(kind, name, version));
    resources.set(TYPE_URLS[kind], new Map(ofKind.map((each) => [each.name, each])));
  }
  return { resources, held: new Map([[TYPE_URLS.endpoint, new Set(held)]]), assignments: new Map() };
}
