import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { textOf } from '../../src/discovery/kubernetes/json.ts';

const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));

export interface RoleRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * The rules of a Role as `deploy/kubernetes` has it.
 * @throws Error when it has none of that name.
 */
export function deployedRole(name: string): readonly RoleRule[] {
  for (const file of readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.yaml')) continue;
    for (const document of parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8'))) {
      const object = document.toJS() as { readonly rules: readonly RoleRule[] } | null;
      if (textOf(object, 'kind') === 'Role' && textOf(object, 'metadata', 'name') === name)
        return object?.rules ?? [];
    }
  }
  throw new Error(`deploy/kubernetes has no Role ${name}`);
}
