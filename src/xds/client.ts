import { isIPv4 } from 'node:net';
import { printable } from '../runtime/text.ts';
import type { Identity } from './identity.ts';

/** Whom the limits count: all streams and connections of one key belong to one client. */
export interface Client {
  /** As it is, however long: two clients never share one. */
  readonly key: string;
  /** For log lines and statuses: printable and cut. */
  readonly name: string;
}

/** A client is who its certificate says; without one it is where it comes from. */
export function clientOf(identity: Identity | undefined, address: string): Client {
  const key = identity?.name ?? networkOf(address);
  return { key, name: printable(key) };
}

const MAPPED = /^::ffff:(?=\d+\.)/i;

/** Groups of an IPv6 address that belong to one network: who has one address of it has them all. */
const NETWORK_GROUPS = 4;

/** @returns an IPv4 address as it is, also in IPv6's clothes; of an IPv6 address its /64. */
function networkOf(address: string): string {
  const plain = address.replace(MAPPED, '');
  if (isIPv4(plain) || !plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail === undefined ? [] : tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
