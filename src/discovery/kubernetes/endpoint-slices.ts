import { parseDestination } from '../../runtime/ip-address.ts';
import { printable } from '../../runtime/text.ts';
import type { Found } from '../discoverer.ts';
import { type FoundAndLeftOut, zoneIn } from './found.ts';
import { flagOf, isPort, listOf, numberOf, textOf } from './json.ts';

/** What is needed of an EndpointSlice. */
export interface KeptSlice {
  /** `IPv4`, `IPv6` or `FQDN` */
  readonly addressType: string;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly SliceEndpoint[];
  /** How many endpoints it has that take no requests. */
  readonly out: number;
}

interface SlicePort {
  /** `''`: it has none. */
  readonly name: string;
  /** undefined: all ports. */
  readonly port: number | undefined;
}

interface SliceEndpoint {
  readonly address: string;
  readonly zone: string | undefined;
  readonly draining: boolean;
}

/** What the Service of the slices says. */
export interface KeptService {
  /** `IPv4`, `IPv6`: its families, the first one its own. */
  readonly families: readonly string[];
}

/**
 * Endpoints that are ready, and those that end and still serve, which drain. A condition that is missing counts as the
 * API says: ready, serving as ready, not terminating.
 *
 * https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions
 */
export function keepSlice(object: unknown): KeptSlice {
  const tcp = listOf(object, 'ports').filter((port) => (textOf(port, 'protocol') ?? 'TCP') === 'TCP');
  const all = listOf(object, 'endpoints');
  const endpoints = all.flatMap((endpoint) => keepEndpoint(endpoint) ?? []);
  return {
    addressType: textOf(object, 'addressType') ?? '',
    ports: tcp.map((port) => ({ name: textOf(port, 'name') ?? '', port: numberOf(port, 'port') })),
    endpoints,
    out: all.length - endpoints.length,
  };
}

function keepEndpoint(endpoint: unknown): SliceEndpoint | undefined {
  const ready = flagOf(endpoint, 'conditions', 'ready') ?? true;
  const serving = flagOf(endpoint, 'conditions', 'serving') ?? ready;
  const draining = flagOf(endpoint, 'conditions', 'terminating') ?? false;
  if (!(draining ? serving : ready)) return undefined;
  // all addresses of an endpoint lead to the same place
  const [address] = listOf(endpoint, 'addresses');
  if (typeof address !== 'string') return undefined;
  return { address, zone: zoneIn(textOf(endpoint, 'zone')), draining };
}

export function keepService(object: unknown): KeptService {
  return { families: listOf(object, 'spec', 'ipFamilies').filter((family) => typeof family === 'string') };
}

/**
 * The backends of all slices together. An endpoint that moves between slices may be in two of them: it is there once,
 * and drains only when both say so. Of a Service of two families only the first counts: a pod with two addresses would
 * be there twice.
 *
 * @param portName undefined: the only port
 * @param families the Service's; empty: not known, IPv4 goes first
 */
export function foundInSlices(
  slices: ReadonlyMap<string, KeptSlice>,
  families: readonly string[],
  portName: string | undefined,
): FoundAndLeftOut {
  const found = new Map<string, Found>();
  const leftOut: string[] = [];
  const family = families[0] ?? familyOf(slices);
  for (const [name, slice] of slices) {
    if (slice.endpoints.length === 0) continue;
    if (slice.addressType !== family) {
      if (!families.includes(slice.addressType)) leftOut.push(otherType(name, slice, family));
      continue;
    }
    const port = portOf(name, slice, portName);
    if (typeof port === 'string') leftOut.push(port);
    else addEndpoints(slice, port, { found, leftOut });
  }
  if (found.size === 0 && leftOut.length === 0) leftOut.push(whyNone(slices, family));
  return { found: [...found.values()], leftOut };
}

function whyNone(slices: ReadonlyMap<string, KeptSlice>, family: string): string {
  const all = [...slices.values()];
  const other = all.find(({ addressType, endpoints }) => addressType !== family && endpoints.length > 0);
  if (other !== undefined)
    return `the Service is ${family} first, and has endpoints of ${other.addressType} alone`;
  const out = all.reduce((sum, slice) => sum + slice.out, 0);
  return out === 0 ? 'the Service has no endpoints' : `none of ${out} endpoints of the Service is ready`;
}

function addEndpoints(
  slice: KeptSlice,
  port: number,
  to: { readonly found: Map<string, Found>; readonly leftOut: string[] },
): void {
  for (const { address: text, zone, draining } of slice.endpoints) {
    const address = parseDestination(text);
    if (address.kind === 'bad') {
      to.leftOut.push(`endpoint ${printable(text, 60)}: ${address.reason}`);
      continue;
    }
    const key = `${address.value} ${port}`;
    if (to.found.get(key)?.draining === false) continue;
    to.found.set(key, { address: address.value, port, zone, draining });
  }
}

/** The first that there are slices of. Names can be no backends. */
function familyOf(slices: ReadonlyMap<string, KeptSlice>): string {
  const types = new Set([...slices.values()].map(({ addressType }) => addressType));
  return types.has('IPv6') && !types.has('IPv4') ? 'IPv6' : 'IPv4';
}

function otherType(name: string, { addressType }: KeptSlice, family: string): string {
  const why =
    addressType === 'FQDN' ? 'its endpoints are names, no IP addresses' : `its Service is ${family}`;
  return `EndpointSlice ${printable(name, 100)} of ${printable(addressType, 20)}: ${why}`;
}

/** @returns the port, or in words why there is none. */
function portOf(name: string, { ports }: KeptSlice, portName: string | undefined): number | string {
  const slice = `EndpointSlice ${printable(name, 100)}`;
  const named = portName === undefined ? ports : ports.filter((port) => port.name === portName);
  const [only, ...more] = named;
  const names = ports.map((port) => printable(port.name || 'one without a name', 40)).join(', ');
  if (only === undefined) {
    return portName === undefined
      ? `${slice} has no TCP port`
      : `${slice} has no TCP port ${portName}${names === '' ? '' : `; it has ${names}`}`;
  }
  if (more.length > 0) return `${slice} has several ports, ${names}: say which with PortName`;
  if (only.port === undefined) return `${slice} names no port number: it stands for all ports`;
  return isPort(only.port) ? only.port : `${slice} has a port that is not in 1..65535`;
}
