import type { Backend, BackendId, MetricsAddress } from '../core/model/backend.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import { isLinkLocal, parseDestination } from '../runtime/ip-address.ts';
import { printable } from '../runtime/text.ts';
import type { Found } from './discoverer.ts';

/** Backends of one group. */
const BACKENDS_MAX = 10_000;
const ZONE_LENGTH_MAX = 256;
const PATH_LENGTH_MAX = 2048;

/** A source's list as backends, or why it is not taken. */
export type FoundBackends =
  | {
      readonly kind: 'list';
      /** Sorted by address, then port; none twice. */
      readonly backends: readonly Backend[];
      /** What the source has and cannot be used, in words. */
      readonly leftOut: readonly string[];
    }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * What a source found as a group can use it. What stands there twice is one: the larger weight counts, and it goes only
 * when all say so.
 */
export function foundBackends(list: readonly Found[], allowLinkLocal: boolean): FoundBackends {
  const backends = new Map<BackendId, Backend>();
  const leftOut: string[] = [];
  for (const found of list) {
    const made = backendOf(found, allowLinkLocal);
    if (typeof made === 'string') {
      leftOut.push(made);
      continue;
    }
    const other = backends.get(made.id);
    backends.set(made.id, other === undefined ? made : merged(other, made));
    if (backends.size > BACKENDS_MAX) {
      return { kind: 'refused', reason: `it has more than ${BACKENDS_MAX} backends, the most of a group` };
    }
  }
  return { kind: 'list', backends: [...backends.values()].sort(byAddressThenPort), leftOut };
}

/** Whether two are the same in all that a group may be told of. */
export function isSameBackend(one: Backend, other: Backend): boolean {
  return (
    one.id === other.id &&
    one.weight === other.weight &&
    one.zone === other.zone &&
    (one.draining ?? false) === (other.draining ?? false) &&
    one.metrics?.port === other.metrics?.port &&
    one.metrics?.path === other.metrics?.path
  );
}

export function byAddressThenPort(one: Backend, other: Backend): number {
  if (one.address !== other.address) return one.address < other.address ? -1 : 1;
  return one.port - other.port;
}

/** @returns in words, why it cannot be used. */
function backendOf(found: Found, allowLinkLocal: boolean): Backend | string {
  const { port, weight = 100, draining = false } = found;
  const name = printable(`${found.address}:${port}`, 100);
  const address = parseDestination(found.address);
  if (address.kind === 'bad') return `${name}: no IP address that can be reached`;
  if (!allowLinkLocal && isLinkLocal(address.value)) {
    return `${name}: a link-local address, which only a group with AllowLinkLocal may have`;
  }
  if (!isIntegerIn(port, 1, 65_535)) return `${name}: the port is not 1..65535`;
  if (!isIntegerIn(weight, 0, 100)) return `${name}: the weight ${weight} is not an integer 0..100`;
  const zone = zoneOf(found.zone);
  const metrics = metricsOf(found.metrics);
  return {
    id: formatHostPort(address.value, port),
    address: address.value,
    port,
    weight,
    ...(zone === undefined ? {} : { zone }),
    ...(draining ? { draining } : {}),
    ...(metrics === undefined ? {} : { metrics }),
  };
}

/** undefined: it is none that a sidecar could name. */
function zoneOf(zone: string | undefined): string | undefined {
  if (zone === undefined || zone === '' || zone.length > ZONE_LENGTH_MAX) return undefined;
  return /^[^\p{C}\p{Z}]+$/u.test(zone) ? zone : undefined;
}

/** Without what is no port and no path: then the group's settings count. */
function metricsOf(metrics: MetricsAddress | undefined): MetricsAddress | undefined {
  const port = isIntegerIn(metrics?.port, 1, 65_535) ? metrics?.port : undefined;
  const path = isPath(metrics?.path) ? metrics?.path : undefined;
  return port === undefined && path === undefined ? undefined : { port, path };
}

function isPath(path: string | undefined): boolean {
  return path !== undefined && path.length <= PATH_LENGTH_MAX && /^\/[!-~]*$/.test(path);
}

function isIntegerIn(value: number | undefined, min: number, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
}

function merged(one: Backend, other: Backend): Backend {
  const { draining: _one, ...rest } = one;
  const zone = one.zone ?? other.zone;
  const metrics = one.metrics ?? other.metrics;
  return {
    ...rest,
    weight: Math.max(one.weight, other.weight),
    ...(zone === undefined ? {} : { zone }),
    ...(one.draining === true && other.draining === true ? { draining: true } : {}),
    ...(metrics === undefined ? {} : { metrics }),
  };
}
