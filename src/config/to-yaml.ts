import { stringify } from 'yaml';

/**
 * Block-style YAML that YAML 1.1 readers such as Envoy's take as it is meant: text that they would read as a number or
 * a truth value (`on`, `010`, `1e3`) is quoted.
 */
export function toYaml(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
