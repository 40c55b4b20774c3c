import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { goModule } from '../support/go-tool.ts';
import type { CrdSource } from './tools.ts';

/** A resource of Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
}

/** All documents of the files. */
export function readManifests(...files: readonly URL[]): Manifest[] {
  return files.flatMap((file) => parseManifests(readFileSync(file, 'utf8')));
}

export function parseManifests(yaml: string): Manifest[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

/**
 * Puts other texts in place of some in the manifests' JSON, wherever they stand.
 * @throws when one of them is nowhere: then the test is out of date
 */
export function rewritten(
  manifests: readonly Manifest[],
  texts: readonly (readonly [from: string, to: string])[],
): Manifest[] {
  let json = JSON.stringify(manifests);
  for (const [from, to] of texts) {
    if (!json.includes(from)) throw new Error(`the manifests are without ${from}`);
    json = json.replaceAll(from, to);
  }
  return JSON.parse(json) as Manifest[];
}

/** The CustomResourceDefinitions of a module. */
export async function readCrds({ module, version, paths }: CrdSource): Promise<Manifest[]> {
  const folder = await goModule(module, version);
  const files = paths
    .map((path) => join(folder, path))
    .flatMap((path) =>
      statSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : [path],
    )
    .filter((path) => path.endsWith('.yaml'));
  const found = files.flatMap((path) =>
    // a chart's files have lines that are no YAML
    parseManifests(readFileSync(path, 'utf8').replace(/^\s*\{\{.*\}\}\s*$/gm, '')),
  );
  return found.filter(({ kind }) => kind === 'CustomResourceDefinition');
}

/** A file of `deploy`. */
export function deployed(path: string): URL {
  return new URL(`../../deploy/${path}`, import.meta.url);
}
