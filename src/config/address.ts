import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import type { ListenAddress } from '../core/model.ts';
import { printable } from '../runtime/text.ts';

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
const DISCOVERY = 'names are not looked up, write their addresses';

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

/** HOST:PORT with an IP literal as HOST, IPv6 in brackets, and a port 0..65535. */
export function parseListen(text: string): Parsed<ListenAddress> {
  const match = /^(?:\[([^\]]*)\]|([^[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null) return { kind: 'bad', reason: whyNoHostPort(text) };
  const [, bracketed, bare, digits] = match;
  const port = Number(digits);
  if (port > 65535) return { kind: 'bad', reason: 'a port is 0..65535' };
  if (bare === '' || bare === '*') return { kind: 'bad', reason: 'all addresses are 0.0.0.0 or [::]' };
  if (bare !== undefined && /^[\da-f]*:[\da-f:.]*$/i.test(bare)) {
    return { kind: 'bad', reason: 'IPv6 needs brackets' };
  }
  const host = parseIp(bracketed ?? bare ?? '');
  if (host.kind === 'bad' || (bracketed !== undefined && !isIPv6(bracketed))) {
    return { kind: 'bad', reason: `"${printable(bracketed ?? bare ?? '', 60)}" is no IP literal` };
  }
  return { kind: 'ok', value: { host: host.value, port } };
}

function whyNoHostPort(text: string): string {
  if (isIPv6(text) || /^\[[^\]]*\]$/.test(text) || isIPv4(text)) return 'the port is missing';
  return 'it is not of this form';
}

/**
 * Whether two addresses with the same port cannot both be listened on. `0.0.0.0` takes every IPv4 address, `::` every
 * IPv6 address and, for sockets of this process (`dualStack`), every IPv4 address too.
 */
export function overlaps(a: string, b: string, dualStack: boolean): boolean {
  if (a === b) return true;
  if (dualStack && (a === '::' || b === '::')) return true;
  if (isIP(a) !== isIP(b)) return false;
  return [a, b].some((address) => address === '0.0.0.0' || address === '::');
}
