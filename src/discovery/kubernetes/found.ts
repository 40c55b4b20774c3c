import { printable } from '../../runtime/text.ts';
import type { Found } from '../discoverer.ts';

const ZONE_LENGTH_MAX = 256;

/** Backends, and in words what is there and cannot be used. */
export interface FoundAndLeftOut {
  readonly found: readonly Found[];
  readonly leftOut: readonly string[];
}

/** A zone as the API names it; undefined: none. */
export function zoneIn(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : printable(text, ZONE_LENGTH_MAX);
}
