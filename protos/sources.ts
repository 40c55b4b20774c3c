import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

/** The folder of a package, or one inside. */
function inPackage(manifest: string, folder = '.'): string {
  return fileURLToPath(new URL(folder, import.meta.resolve(manifest)));
}

/** The development dependency carries the sources of four projects; protobufjs those of google/protobuf. */
const INCLUDES = [
  ...['envoy-api', 'xds', 'googleapis', 'protoc-gen-validate'].map((project) =>
    inPackage('@grpc/grpc-js-xds/package.json', `deps/${project}`),
  ),
  inPackage('protobufjs/package.json'),
];

/**
 * Reads .proto files with everything they import.
 * @throws when a file is in none of the folders, or is no .proto file.
 */
export function readProtos(files: readonly string[]): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => {
    const path = INCLUDES.map((folder) => join(folder, target)).find((file) => existsSync(file));
    if (path === undefined) throw new Error(`${target} is in none of ${INCLUDES.join(', ')}`);
    return path;
  };
  root.loadSync([...files]).resolveAll();
  return root;
}
