import type { BackendExplanation, DecisionExplanation } from '../../src/admin/explanation.ts';

/**
 * The documented rule once more, as somebody with the answer of `/explain` and a pocket calculator would follow it: what
 * an evaluation computed is not looked at, but for what cannot be computed again (the residual of the learned capacity, what was kept).
 * @returns by backend, the weight before it is shifted and rounded; 0: not in the assignment
 */
export function weightsByHand(decision: DecisionExplanation): ReadonlyMap<string, number> {
  const load = new LoadByHand(decision);
  const weights = decision.backends.map((of) => (isAbsent(of) ? 0 : (of.keptWeight ?? load.weightOf(of))));
  // where nobody's sample counts, configured or kept weights hold as they are
  if (decision.backends.some(isUsable)) {
    limitNewcomers(decision.backends, weights);
    limitFrozen(decision.backends, weights);
  }
  const there = weights.filter((weight) => weight > 0);
  const mean = sum(there) / there.length;
  const scale = Math.min(100_000, 1_000_000_000 / there.length);
  return new Map(
    decision.backends.map(({ backend }, i) => {
      const weight = weights[i] ?? 0;
      return [backend, weight === 0 ? 0 : (scale * weight) / mean];
    }),
  );
}

interface Load {
  readonly queued: number;
  readonly running: number;
  readonly kv: number;
}

class LoadByHand {
  readonly #decision: DecisionExplanation;
  readonly #means: Load;
  readonly #capacities: ReadonlyMap<string, number>;

  constructor(decision: DecisionExplanation) {
    this.#decision = decision;
    this.#capacities = capacitiesByHand(decision.backends);
    const mean = (read: (load: Partial<Load>, of: BackendExplanation) => number | undefined): number => {
      const known = this.#usable().flatMap((of) => {
        const value = read(perUnit(of), of);
        return value === undefined ? [] : [{ value, share: shareOf(of, decision) * (of.intake?.trust ?? 1) }];
      });
      const shares = sum(known.map(({ share }) => share));
      return shares === 0 ? 0 : sum(known.map(({ value, share }) => value * share)) / shares;
    };
    const queues = this.#usable()
      .flatMap((of) => perUnit(of).queued ?? [])
      .toSorted((one, other) => one - other);
    const most = 4 + 2 * (queues[Math.floor((queues.length - 1) / 2)] ?? 0);
    this.#means = {
      queued: mean(({ queued }, { saturated }) =>
        queued === undefined || !saturated ? queued : Math.min(queued, most),
      ),
      running: mean((load) => load.running),
      kv: mean((load) => load.kv),
    };
  }

  weightOf(of: BackendExplanation): number {
    const share = shareOf(of, this.#decision);
    if (this.#decision.mode !== 'balanced' || this.#isAlike()) return share;
    switch (this.#decision.policy) {
      case 'Adaptive': {
        const capacity = this.#capacities.get(of.backend) ?? Number.NaN;
        if (of.sampleUse === 'frozen') return share * capacity;
        const factor = clamp(1 + this.#gain() * this.#deviation(this.#loadOf(of)), 0.1, 1.5);
        return share * capacity * factor * this.#free(of);
      }
      case 'Linear': {
        if (of.sampleUse === 'frozen') return share;
        const mean = average(this.#usable().map((one) => this.#score(this.#loadOf(one))));
        const score = this.#score(this.#loadOf(of));
        return share * clamp(1 + 2 * this.#gain() * (score - mean), 0.1, 2);
      }
      case null:
        return share;
    }
  }

  /** What it takes is looked at, but for what the evaluation before came to. */
  #isAlike(): boolean {
    const { equalWeights, gain, backends, policy, envoyLbPolicy, zones } = this.#decision;
    if (!equalWeights) return false;
    if (policy !== 'Adaptive' || envoyLbPolicy !== 'LeastRequest' || zones.length > 0 || gain === null)
      throw new Error('equal weights where there are none');
    const { intervalSeconds, delaySeconds, lagSeconds, staySeconds } = gain;
    if (intervalSeconds + delaySeconds + 2 * lagSeconds <= staySeconds || staySeconds < 2)
      throw new Error('equal weights, though samples are younger than stays');
    if (inside(this.#means) < 16) throw new Error('equal weights with few requests');
    for (const of of backends) {
      if (isAbsent(of) || of.sampleUse === 'draining') continue;
      const capacity = this.#capacities.get(of.backend) ?? Number.NaN;
      const isUsual = shareOf(of, this.#decision) === 1 && of.sampleUse === 'fresh' && of.slowStart === null;
      const isAlike =
        of.mark === null && (of.intake?.trust ?? 1) >= 0.2 && Math.abs(Math.log(capacity)) < 0.2;
      if (!isUsual || !isAlike) throw new Error(`equal weights, though ${of.backend} is not like the others`);
    }
    return true;
  }

  #free({ prompts }: BackendExplanation): number {
    const interval = this.#decision.gain?.intervalSeconds ?? Number.NaN;
    return prompts === null ? 1 : Math.max(0.1, 1 - prompts.tokens / prompts.tokensPerSecond / interval);
  }

  #gain(): number {
    const { gain, envoyLbPolicy } = this.#decision;
    if (gain === null) throw new Error('balanced without a gain');
    const { intervalSeconds, delaySeconds, lagSeconds, staySeconds } = gain;
    const remaining = Math.exp(-(intervalSeconds + delaySeconds + 2 * lagSeconds) / staySeconds);
    const trust = envoyLbPolicy === 'LeastRequest' ? 0.5 : 0.7;
    return Math.min(clamp(inside(this.#means) / 16, 1, 3), (trust * remaining) / (1 - remaining));
  }

  #deviation(load: Load): number {
    const means = this.#means;
    const runningScale = Math.max(inside(means), 8);
    return -sum([
      (this.#part('TotalQueuedRequests') * (load.queued - means.queued)) / Math.max(runningScale / 16, 1),
      (this.#part('KVCacheUtilization') * (load.kv - means.kv)) / Math.max(means.kv, 0.1),
      (this.#part('RunningRequests') * (inside(load) - inside(means))) / runningScale,
    ]);
  }

  #score(load: Load): number {
    const means = this.#means;
    const one = (read: (load: Load) => number, smallest: number): number => {
      const values = this.#usable().map((of) => read(this.#loadOf(of)));
      const least = Math.min(...values);
      return clamp(1 - (read(load) - least) / Math.max(Math.max(...values) - least, smallest), 0, 1);
    };
    return sum([
      this.#part('TotalQueuedRequests') * one(({ queued }) => queued, Math.max(4, inside(means) / 4)),
      this.#part('KVCacheUtilization') * one(({ kv }) => kv, Math.max(0.2, means.kv)),
      this.#part('RunningRequests') * one(inside, Math.max(8, inside(means))),
    ]);
  }

  #loadOf(of: BackendExplanation): Load {
    if (isUsable(of)) {
      const own = { ...this.#means, ...perUnit(of) };
      const believed = (value: number, mean: number): number =>
        value < mean ? mean + (of.intake?.trust ?? 1) * (value - mean) : value;
      return {
        queued: believed(own.queued, this.#means.queued),
        running: believed(own.running, this.#means.running),
        kv: believed(own.kv, this.#means.kv),
      };
    }
    return of.sampleUse === 'worst' ? this.#worst() : this.#means;
  }

  #worst(): Load {
    const fresh = this.#usable().filter((of) => of.sampleUse === 'fresh');
    const loads = (fresh.length > 0 ? fresh : this.#usable()).map((of) => this.#loadOf(of));
    const worst = (read: (load: Load) => number): number => Math.max(...loads.map(read));
    return {
      queued: worst(({ queued }) => queued),
      running: worst(({ running }) => running),
      kv: worst(({ kv }) => kv),
    };
  }

  #usable(): readonly BackendExplanation[] {
    return this.#decision.backends.filter(isUsable);
  }

  #part(name: string): number {
    return this.#decision.signals.find((signal) => signal.name === name)?.part ?? 0;
  }
}

function capacitiesByHand(backends: readonly BackendExplanation[]): ReadonlyMap<string, number> {
  const taking = backends.filter(({ configuredWeight }) => configuredWeight > 0);
  const speeds = speedsByHand(taking);
  const products = taking.map((of) => ({
    of,
    product: of.residualCapacity * (speeds.get(of.backend) ?? 1),
  }));
  const mean = average(products.map(({ product }) => product));
  return new Map(products.map(({ of, product }) => [of.backend, clamp(product / mean, 0.2, 3)]));
}

function speedsByHand(taking: readonly BackendExplanation[]): ReadonlyMap<string, number> {
  const paces = taking.flatMap(({ backend, pace }) => (pace === null ? [] : [{ backend, ...pace }]));
  const finished = sum(paces.map((of) => of.finishedRequests));
  if (finished <= 5 * paces.length) return new Map();
  const seconds = sum(paces.map((of) => of.runningSeconds)) / finished;
  const logs = paces.map((of) => Math.log((of.finishedRequests + 20) / (of.runningSeconds / seconds + 20)));
  const centred = logs.map((log) => log - average(logs));
  const noise = average(paces.map((of) => 2 / (of.finishedRequests + 20)));
  const part = Math.max(0, 1 - noise / average(centred.map((log) => log * log)));
  const powers = centred.map((log) => Math.exp(part * log));
  return new Map(paces.map(({ backend }, i) => [backend, clamp((powers[i] ?? 1) / average(powers), 0.2, 3)]));
}

function isUsable({ sampleUse }: BackendExplanation): boolean {
  return sampleUse === 'fresh' || sampleUse === 'last';
}

function perUnit(of: BackendExplanation): Partial<Load> {
  const { sample, configuredShare: share } = of;
  return {
    ...(sample?.queuedRequests == null ? {} : { queued: sample.queuedRequests / share }),
    ...(sample?.runningRequests == null ? {} : { running: sample.runningRequests / share }),
    ...(sample?.kvCacheRatio == null ? {} : { kv: sample.kvCacheRatio }),
  };
}

function isAbsent({ configuredWeight, sampleUse }: BackendExplanation): boolean {
  return configuredWeight === 0 || sampleUse === 'asleep' || sampleUse === 'removed';
}

function shareOf({ configuredWeight }: BackendExplanation, { backends }: DecisionExplanation): number {
  const weights = backends.map((of) => of.configuredWeight).filter((weight) => weight > 0);
  return configuredWeight / average(weights);
}

function limitNewcomers(backends: readonly BackendExplanation[], weights: number[]): void {
  const others = backends.flatMap((of, i) => {
    const weight = weights[i] ?? 0;
    return weight === 0 || of.slowStart !== null || of.sampleUse === 'frozen'
      ? []
      : [weight / of.configuredShare];
  });
  if (others.length === 0) return;
  for (const [i, { slowStart, sampleUse, configuredShare }] of backends.entries()) {
    if (slowStart === null || sampleUse === 'frozen') continue;
    const most = configuredShare * average(others) * Math.max(0.1, slowStart.ageSeconds / 30);
    weights[i] = Math.min(weights[i] ?? 0, most);
  }
}

function limitFrozen(backends: readonly BackendExplanation[], weights: number[]): void {
  const others = sum(weights.filter((_, i) => backends[i]?.sampleUse !== 'frozen'));
  const most = (0.02 * others) / weights.filter((weight) => weight > 0).length;
  if (others === 0) return;
  for (const [i, { sampleUse }] of backends.entries()) {
    if (sampleUse === 'frozen') weights[i] = Math.min(weights[i] ?? 0, most);
  }
}

function inside({ queued, running }: Load): number {
  return queued + running;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function average(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
