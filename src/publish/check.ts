import type { Assignment } from '../core/model/assignment.ts';

/** Beyond it next to nothing would come through to tell that the overload is over. */
const DROP_SHARE_MAX = 0.95;
/** Envoy adds endpoint weights up in 32 bits. */
const WEIGHT_SUM_MAX = 2 ** 32 - 2;
const IP_LITERAL = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:.]*)$/;

/**
 * What every sidecar would refuse, or silently take in another sense, in an assignment.
 * @returns the first broken rule with the value that breaks it; undefined: the assignment may be published.
 */
export function checkAssignment(assignment: Assignment): string | undefined {
  const seen = new Set<string>();
  let sum = 0;
  for (const endpoint of assignment.endpoints) {
    const id = `${endpoint.address}|${endpoint.port}`;
    if (!IP_LITERAL.test(endpoint.address)) return `the address ${endpoint.address} is no IP literal`;
    if (!isIntegerIn(endpoint.port, 1, 65535)) return `${id}: the port is not an integer of 1..65535`;
    if (!isIntegerIn(endpoint.weight, 1, WEIGHT_SUM_MAX)) {
      return `${id}: the weight ${endpoint.weight} is not an integer of at least 1`;
    }
    if (seen.has(id)) return `${id} stands twice`;
    seen.add(id);
    sum += endpoint.weight;
  }
  const { dropShare } = assignment;
  if (!(dropShare >= 0 && dropShare <= DROP_SHARE_MAX)) {
    return `the refused share ${dropShare} is not a number of 0..${DROP_SHARE_MAX}`;
  }
  return sum > WEIGHT_SUM_MAX ? `the weights add up to ${sum}, more than ${WEIGHT_SUM_MAX}` : undefined;
}

function isIntegerIn(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}
