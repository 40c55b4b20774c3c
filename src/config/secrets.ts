import type { Path } from './mistake.ts';
import type { ConfigurationInput } from './schema.ts';

/** Fields whose values, by whatever name, may be secret; what names a file is not. */
const SECRET_MAPS: ReadonlySet<string> = new Set(['Headers']);

const HIDDEN = '(hidden)';

/** Whether the value there must not be shown. */
export function isSecret(path: Path): boolean {
  return SECRET_MAPS.has(String(path.at(-2)));
}

/** The same file, fit to be shown to whoever may read the admin address. */
export function withoutSecrets(file: ConfigurationInput): ConfigurationInput {
  return hide(file, []) as ConfigurationInput;
}

function hide(value: unknown, path: Path): unknown {
  if (Array.isArray(value)) return value.map((item, index) => hide(item, [...path, index]));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, hide(child, [...path, key])]),
    );
  }
  return isSecret(path) ? HIDDEN : value;
}
