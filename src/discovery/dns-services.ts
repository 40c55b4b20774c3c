import { formatHostPort } from '../runtime/host-port.ts';
import { printable } from '../runtime/text.ts';
import type { Found } from './discoverer.ts';
import type { SrvRecord } from './dns-client.ts';
import { type Share, weightsOf } from './dns-weights.ts';

/** The records of the lowest priority that can be used. Those of the others are for when these are all out of reach. */
export function chosen(records: readonly SrvRecord[]): {
  readonly used: readonly SrvRecord[];
  readonly leftOut: readonly string[];
} {
  const leftOut: string[] = [];
  const usable = records.filter(({ target, port }) => {
    // RFC 2782: the target "." says that there is no such service
    if (target === '') return false;
    if (port !== 0) return true;
    leftOut.push(`${printable(target)}: port 0`);
    return false;
  });
  const priority = usable.reduce((lowest, record) => Math.min(lowest, record.priority), Infinity);
  const used = usable.filter((record) => record.priority === priority);
  const others = usable.length - used.length;
  if (others > 0) leftOut.push(`records of a priority above ${priority}: ${others}`);
  return { used, leftOut };
}

/**
 * One backend for each address and port; the weight of a target is shared among its addresses.
 * @param addressesOf of a target, none twice
 * @returns undefined: there are more than `max`
 */
export function backendsOf(
  records: readonly SrvRecord[],
  addressesOf: (target: string) => readonly string[],
  max: number,
): { readonly list: readonly Found[]; readonly without: readonly string[] } | undefined {
  const backends = new Map<string, Found & { readonly shares: Share[] }>();
  const without = new Set<string>();
  for (const { target, port, weight } of merged(records)) {
    const addresses = addressesOf(target);
    if (addresses.length === 0) without.add(`${printable(target)}: no address`);
    for (const address of addresses) {
      const key = formatHostPort(address, port);
      const backend = backends.get(key) ?? { address, port, shares: [] };
      backends.set(key, backend);
      backend.shares.push({ weight, among: addresses.length });
    }
    if (backends.size > max) return undefined;
  }
  const known = [...backends.values()];
  const weights = weightsOf(known.map(({ shares }) => shares));
  const list = known.map(({ address, port }, index) => ({ address, port, weight: weights[index] }));
  return { list, without: [...without] };
}

/** Records of one target and port become one with the sum of their weights. */
function merged(records: readonly SrvRecord[]): readonly SrvRecord[] {
  const sums = new Map<string, SrvRecord>();
  for (const record of records) {
    const key = `${record.target} ${record.port}`;
    sums.set(key, { ...record, weight: record.weight + (sums.get(key)?.weight ?? 0) });
  }
  return [...sums.values()];
}
