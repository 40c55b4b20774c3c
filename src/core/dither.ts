import { at } from './at.ts';
import { hashText, mix } from './hash.ts';
import type { EndpointHealth } from './model/assignment.ts';
import type { Backend } from './model/backend.ts';

const MEAN = 100_000;
/** Keeps the sum far below the 2^32 - 1 that Envoy allows. */
const SUM = 1_000_000_000;
const AMPLITUDE = 0.001;
const EQUAL_WITHIN = 1e-6;

/** What sidecars are to be told, in canonical order, without the dither. */
export interface Proposal {
  readonly backends: readonly Backend[];
  readonly health: readonly EndpointHealth[];
  /** Their mean is 1. */
  readonly weights: Float64Array;
  /** The share of requests that they refuse by themselves, 0..0.95, in thousandths. */
  readonly dropShare: number;
  /** Those that end what they have begun, beside the others: without a weight of their own. */
  readonly draining: readonly Backend[];
}

/**
 * The integer weights to publish. Each change of weights makes Envoy begin its schedule anew at a phase that depends
 * only on their ratios; a small shift of every weight at every change keeps some backends from being left out. The
 * shift comes from a hash of the content, so that equal content has equal bytes on every replica. Equal weights stay
 * exactly equal: Envoy then takes turns, and its turn survives a change. But not while a share is refused: Envoy takes
 * another share only together with another endpoint, so that every change of it has to shift the weights.
 */
export function integerWeights({
  backends,
  health,
  weights,
  dropShare,
}: Omit<Proposal, 'draining'>): Uint32Array {
  const scale = weightScale(weights.length);
  const integers = new Uint32Array(weights.length);
  const thousandths = Math.round(1000 * dropShare);
  // a single weight is no ratio, so that it may tell the shares apart where a hash would sometimes not
  if (weights.length === 1) return integers.fill(toInteger(scale) + thousandths);
  if (thousandths === 0 && areEqual(weights)) return integers.fill(toInteger(scale));
  const addresses = new Uint32Array(weights.length);
  let content = mix(thousandths);
  for (let index = 0; index < weights.length; index++) {
    addresses[index] = hashText(at(backends, index).id);
    content = mix(content ^ at(addresses, index));
    content = mix(content ^ toInteger(scale * at(weights, index)));
    content = mix(content ^ hashText(at(health, index)));
  }
  for (let index = 0; index < weights.length; index++) {
    const shift = (mix(at(addresses, index) ^ content) / 0xffffffff) * 2 - 1;
    integers[index] = toInteger(scale * at(weights, index) * (1 + AMPLITUDE * shift));
  }
  return integers;
}

/** S of the rule: the integer weight of a backend of mean weight, without dither. */
export function weightScale(backends: number): number {
  return Math.min(MEAN, SUM / Math.max(1, backends));
}

function toInteger(weight: number): number {
  return Math.max(1, Math.round(weight));
}

/** So near each other that they are published as equal. */
export function areEqual(weights: Float64Array): boolean {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const weight of weights) {
    least = Math.min(least, weight);
    most = Math.max(most, weight);
  }
  return most - least <= EQUAL_WITHIN;
}
