import { status } from '@grpc/grpc-js';
import type { XdsLimits } from '../core/model/configuration.ts';
import type { Refusal } from './refusal.ts';
import type { NodeIdentity, Request } from './request.ts';
import type { RememberedNames, TypeView } from './subscription.ts';
import type { Variant } from './variant.ts';

/** Texts of a request that the server keeps are of bounded length. undefined: they are. */
export function checkLengths<R extends Request>(
  request: R,
  variant: Variant<R>,
  { nameLength }: XdsLimits,
): Refusal | undefined {
  const length = Math.max(variant.longestText(request), nodeLength(request.node));
  if (length <= nameLength) return undefined;
  return {
    limit: 'NameLength',
    code: status.INVALID_ARGUMENT,
    details: `Xds.Limits.NameLength: a name, node or version of ${length} characters; at most ${nameLength}`,
  };
}

/**
 * A list that is longer than what exists and the names that may not exist together is not looked through: it repeats
 * itself, or goes beyond the limit in any case.
 */
export function checkCount(
  size: number,
  view: TypeView | undefined,
  { names: limit }: XdsLimits,
): Refusal | undefined {
  const existing = view === undefined ? 0 : view.resources.size + view.held.size;
  if (size <= existing + limit) return undefined;
  return {
    limit: 'Names',
    code: status.RESOURCE_EXHAUSTED,
    details: `Xds.Limits.Names: ${size} names in one request; at most ${limit} beyond the ${existing} that exist`,
  };
}

/**
 * Names that do not exist are the client's invention and bounded by the limit. Those that exist are bounded by
 * themselves: one group more in the configuration must not turn away the sidecars that ask for all of them.
 * @param view undefined: there is nothing yet, and no name exists.
 */
export function checkNames(
  names: RememberedNames,
  view: TypeView | undefined,
  { names: limit }: XdsLimits,
): Refusal | undefined {
  if (names.size <= limit) return undefined;
  let unknown = 0;
  for (const name of names.keys()) if (!isKnown(name, view)) unknown++;
  if (unknown <= limit) return undefined;
  return {
    limit: 'Names',
    code: status.RESOURCE_EXHAUSTED,
    details: `Xds.Limits.Names: ${unknown} names that do not exist; at most ${limit}`,
  };
}

function isKnown(name: string, view: TypeView | undefined): boolean {
  return view !== undefined && (view.resources.has(name) || view.held.has(name));
}

function nodeLength(node: NodeIdentity | undefined): number {
  if (node === undefined) return 0;
  return Math.max(node.id.length, node.cluster.length, node.userAgent.length, node.zone.length);
}
