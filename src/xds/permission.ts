import type { AuthorizationRule } from '../core/model/configuration.ts';
import type { Identity } from './identity.ts';

/** What a client may see: everything, some server groups, or nothing. */
export type Permission =
  | { readonly kind: 'all' }
  | { readonly kind: 'groups'; readonly serverGroups: ReadonlySet<string> }
  | { readonly kind: 'none' };

/**
 * All that the rules for a client allow together.
 * @param rules undefined: whoever gets as far as this may see everything.
 */
export function permissionOf(
  rules: readonly AuthorizationRule[] | undefined,
  identities: readonly Identity[],
): Permission {
  if (rules === undefined) return { kind: 'all' };
  const allowed = rules.filter((rule) => isFor(rule.identity, identities)).map((rule) => rule.serverGroups);
  const serverGroups = new Set<string>();
  for (const groups of allowed) {
    if (groups === 'all') return { kind: 'all' };
    for (const group of groups) serverGroups.add(group);
  }
  return serverGroups.size === 0 ? { kind: 'none' } : { kind: 'groups', serverGroups };
}

/** @param pattern `*`: any verified client; a URI, with `/*` at its end for all that begins like it; a DNS name. */
function isFor(pattern: string, identities: readonly Identity[]): boolean {
  if (pattern === '*') return true;
  const isUri = pattern.includes('://');
  const beginning = pattern.endsWith('/*') ? pattern.slice(0, -1) : undefined;
  return identities.some(({ kind, name }) => {
    if (!isUri) return kind === 'dns' && name === pattern.toLowerCase();
    if (kind !== 'uri') return false;
    return beginning === undefined
      ? name === pattern
      : name.startsWith(beginning) && name.length > beginning.length;
  });
}
