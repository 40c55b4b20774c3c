import { isIP, isIPv4, isIPv6 } from 'node:net';
import type { ListenAddress } from '../core/model/configuration.ts';
import { type Parsed, parseIp } from '../runtime/ip-address.ts';
import { printable } from '../runtime/text.ts';

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
