import type { GainBasis } from './model/basis.ts';
import type { EnvoyLbPolicy } from './model/server-group.ts';

/** A sidecar that weighs in its own requests already corrects a part. */
const TRUST: Readonly<Record<EnvoyLbPolicy, number>> = { LeastRequest: 0.5, RoundRobin: 0.7 };

/** What is known of a lag is old itself, and queues pass sooner than requests. */
const LAG_COUNTS = 2;

export interface GainInput {
  /** n̄ of the rule: mean requests inside, per unit of configured weight. */
  readonly meanInside: number;
  /** T of the rule. */
  readonly intervalSeconds: number;
  /** d of the rule. */
  readonly delaySeconds: number;
  /** L of the rule: how much older the gauges are than the answers that they came in. */
  readonly lagSeconds: number;
  /** R of the rule. */
  readonly staySeconds: number;
  readonly envoyLbPolicy: EnvoyLbPolicy;
}

/**
 * What g of the rule, how strongly weights answer to a difference in load, is the smaller one of. Old information
 * deserves less trust, so the feedback falls with the interval, the delay and the lag over a request's stay; few requests
 * make for much noise, so their number sets the limit.
 */
export function gainBasis({ envoyLbPolicy, ...input }: GainInput): GainBasis {
  const { meanInside, intervalSeconds, delaySeconds, lagSeconds, staySeconds } = input;
  const ageSeconds = intervalSeconds + delaySeconds + LAG_COUNTS * lagSeconds;
  const remaining = Math.exp(-ageSeconds / staySeconds);
  const trust = TRUST[envoyLbPolicy];
  return {
    ...input,
    remaining,
    trust,
    feedback: (trust * remaining) / (1 - remaining),
    limit: Math.min(3, Math.max(1, meanInside / 16)),
  };
}
