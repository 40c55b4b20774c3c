import type { Assignment } from '../../../src/core/model/assignment.ts';

export const GROUP = 'bench';

/** An assignment in which every weight differs from the one of the number before; the same as in go/main.go. */
export function assignmentOf(number: number, backends: number): Assignment {
  const endpoints = Array.from({ length: backends }, (_, index) => ({
    address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    port: 8000,
    weight: 90_000 + ((index * 7919 + number * 104_729) % 20_000),
    health: 'HEALTHY' as const,
  }));
  return { serverGroup: GROUP, endpoints, dropShare: 0 };
}
