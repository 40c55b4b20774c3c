import type { Assignment } from './assignment.ts';

/**
 * What the sidecars of one zone are told under `Locality: Prefer`, and what it follows from. `overflow` is
 * 1 - `available` · (1 - asked), with asked = `integral` + `gain` · (`excess` - 0.1), 0..1; but 1 where `plain`, and at
 * least 0.01. While what is published stands, so does the overflow.
 */
export interface ZoneDecision {
  readonly zone: string;
  /** How many of its backends are in the assignment. */
  readonly backends: number;
  /** How much busier than the whole group it is, in units of the deviation; undefined: no sample of its backends counts. */
  readonly excess: number | undefined;
  /** The part of what it is configured for that takes requests now, 0..1. */
  readonly available: number;
  /** What one difference of load moves at once, 0..1. */
  readonly gain: number;
  /** What differences have added up to, 0..1. */
  readonly integral: number;
  /** Of the requests that plain balancing would send to other zones, the part that goes there: 0.01..1. */
  readonly overflow: number;
  /** Whether it is balanced as if there were no zones: no load is compared, or a share is refused. */
  readonly plain: boolean;
  /** What the weights of other zones are multiplied by, at most 1. */
  readonly factor: number;
  /** The share of new requests that stays in the zone, by the weights; 0: it has no healthy backend. */
  readonly homeShare: number;
  /** What its sidecars should have from here on: the last published one where the decision has no reason to publish. */
  readonly assignment: Assignment;
}
