import { isIP } from 'node:net';
import type { Target } from '../config/target-groups.ts';
import type { MetricsAddress } from '../core/model/backend.ts';
import { printable } from '../runtime/text.ts';
import type { Found } from './discoverer.ts';

/** Targets as backends, and those that cannot be any, in words. */
export interface FoundTargets {
  readonly found: readonly Found[];
  readonly leftOut: readonly string[];
}

/**
 * What a list for Prometheus says of backends: the address that it scrapes is the one that requests go to. Of the labels
 * `weight` is the configured weight, `zone`, or else one whose name ends in `_zone`, the zone, and `__metrics_path__`
 * the path of the metrics page; the others say nothing to us.
 */
export function foundTargets(targets: readonly Target[]): FoundTargets {
  const found: Found[] = [];
  const leftOut: string[] = [];
  for (const { address, labels } of targets) {
    const made = foundOf(address, labels);
    if (typeof made === 'string') leftOut.push(`${printable(address, 100)}: ${made}`);
    else found.push(made);
  }
  return { found, leftOut };
}

/** @returns in words, why it is none. */
function foundOf(address: string, labels: Target['labels']): Found | string {
  const match = /^(?:\[([^\]]*)\]|([^[\]:]*)):(\d{1,5})$/.exec(address);
  if (match === null) return 'no ADDRESS:PORT';
  const [, bracketed, bare, digits] = match;
  const ip = bracketed ?? bare ?? '';
  if (isIP(ip) === 0) return 'a host name is no address; Discovery with Dns looks names up';
  const weight = labels['weight'];
  if (weight !== undefined && !/^(?:\d{1,2}|100)$/.test(weight)) {
    return `its label weight is "${printable(weight, 40)}", but must be an integer 0..100`;
  }
  return {
    address: ip,
    port: Number(digits),
    weight: weight === undefined ? undefined : Number(weight),
    zone: zoneOf(labels),
    metrics: metricsOf(labels),
  };
}

function zoneOf(labels: Target['labels']): string | undefined {
  const name = Object.keys(labels)
    .filter((label) => label.endsWith('_zone'))
    .sort()[0];
  return labels['zone'] ?? (name === undefined ? undefined : labels[name]);
}

function metricsOf({ __metrics_path__: path }: Target['labels']): MetricsAddress | undefined {
  return path === undefined ? undefined : { path };
}
