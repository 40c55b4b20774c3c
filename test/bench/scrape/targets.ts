import { formatHostPort } from '../../../src/runtime/host-port.ts';

/** How a page is asked for: all of it, or the families alone that are read. */
export type Variant = 'full' | 'lean';

/** Addresses that the targets have, one each; all have the same port. */
export function addressOf(target: number): string {
  return `127.64.${target >> 8}.${target & 255}`;
}

export function hostPortOf(target: number, port: number): string {
  return formatHostPort(addressOf(target), port);
}
