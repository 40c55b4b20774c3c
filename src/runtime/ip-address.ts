import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** A parsed value, or the reason why it is none: the end of a sentence about what is allowed. */
export type Parsed<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'bad'; readonly reason: string };

const NO_DESTINATION = new BlockList();
NO_DESTINATION.addAddress('0.0.0.0');
NO_DESTINATION.addAddress('255.255.255.255');
NO_DESTINATION.addSubnet('224.0.0.0', 4);
NO_DESTINATION.addAddress('::', 'ipv6');
NO_DESTINATION.addSubnet('ff00::', 8, 'ipv6');

/**
 * An IP literal in canonical form: IPv4 as it is, IPv6 compressed and in lower case (RFC 5952), an IPv4-mapped IPv6
 * address as the IPv4 address that it stands for.
 */
export function parseIp(text: string): Parsed<string> {
  if (isIPv4(text)) return { kind: 'ok', value: text };
  if (isIPv6(text) && !text.includes('%')) return { kind: 'ok', value: canonicalIpv6(text) };
  return { kind: 'bad', reason: whyNoIp(text) };
}

/** An IP literal that one can connect to: not unspecified, multicast or broadcast. */
export function parseDestination(text: string): Parsed<string> {
  const parsed = parseIp(text);
  if (parsed.kind === 'bad') {
    return parsed.reason === HOST_NAME ? { kind: 'bad', reason: `${HOST_NAME}; ${DISCOVERY}` } : parsed;
  }
  if (!NO_DESTINATION.check(parsed.value, isIPv6(parsed.value) ? 'ipv6' : 'ipv4')) return parsed;
  return { kind: 'bad', reason: 'no server can be reached at this address' };
}

const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16);
// the same seen through the translation of RFC 6052
LINK_LOCAL.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');

/** Whether an address in canonical form is of this link only, as those are where clouds tell a machine its secrets. */
export function isLinkLocal(address: string): boolean {
  return LINK_LOCAL.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

const HOST_NAME = 'a host name is none';
const DISCOVERY = 'Discovery with Dns looks names up';

function canonicalIpv6(text: string): string {
  const compressed = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed);
  if (mapped === null) return compressed;
  const high = Number.parseInt(mapped[1] ?? '', 16);
  const low = Number.parseInt(mapped[2] ?? '', 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function whyNoIp(text: string): string {
  if (text.includes('%')) return 'a zone id is not supported';
  if (/^\[.*\]$/.test(text)) return 'write it without brackets';
  if (isIP(text.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')) !== 0)
    return 'the port has its own field, Port';
  if (/^[\d.]+$/.test(text)) return 'an IPv4 address has four numbers 0..255 without leading zeros';
  return HOST_NAME;
}
