import type { Backend } from '../../src/core/model/backend.ts';
import type { BackendDecision, GroupDecision } from '../../src/core/model/decision.ts';

/** A backend of 10.0.3.0/24, port 8000, weight 100. */
export function backend(last: number, change: Partial<Backend> = {}): Backend {
  const address = change.address ?? `10.0.3.${last}`;
  const port = change.port ?? 8000;
  return { address, port, weight: 100, id: `${address}:${port}`, ...change };
}

/** A healthy backend with a fresh sample of an idle engine. */
export function backendDecision(of: Backend, change: Partial<BackendDecision> = {}): BackendDecision {
  return {
    backend: of,
    sample: { queued: 0, running: 0, kvUtilization: 0, finished: 0, latency: undefined },
    sampleAgeMs: 10,
    engine: 'Vllm',
    use: 'fresh',
    missed: 0,
    failure: undefined,
    score: 100,
    deviation: 0,
    capacity: 1,
    relativeWeight: 1,
    slowStart: undefined,
    saturated: false,
    markCause: undefined,
    frozen: false,
    doubted: false,
    health: 'HEALTHY',
    weight: 100_000,
    share: 1,
    reasons: [],
    basis: {
      configuredShare: 1,
      signals: [],
      capacity: 1,
      residual: 1,
      speed: 1,
      pace: undefined,
      intake: undefined,
      prompts: undefined,
      unboundedLoadFactor: 1,
      loadFactor: 1,
      kept: undefined,
      slowStart: undefined,
      trickle: undefined,
      weight: 1,
      unditheredWeight: 100_000,
    },
    ...change,
  };
}

export function groupDecision(
  serverGroup: string,
  backends: readonly BackendDecision[],
  change: Partial<GroupDecision> = {},
): GroupDecision {
  const published = backends.filter((of) => of.health !== undefined);
  const assignment = {
    serverGroup,
    endpoints: published.map(({ backend: { address, port }, weight, health = 'HEALTHY' }) => ({
      address,
      port,
      weight,
      health,
    })),
    dropShare: 0,
  };
  return {
    serverGroup,
    atMs: 1000,
    collectionStartedAtMs: 990,
    mode: 'balanced',
    gain: 1,
    staySeconds: 8,
    delaySeconds: 0.1,
    backends,
    observing: false,
    computed: change.assignment ?? assignment,
    assignment,
    admission: { kind: 'disabled' },
    publish: 'shares',
    warnings: [],
    basis: {
      policy: 'Adaptive',
      envoyLbPolicy: 'LeastRequest',
      saturation: undefined,
      signals: [],
      mostQueued: undefined,
      gain: undefined,
      speed: undefined,
      meanCapacity: 1,
      meanScore: undefined,
      alike: false,
      loadFactorBounds: undefined,
      meanWeight: 1,
      scale: 100_000,
    },
    ...change,
  };
}
