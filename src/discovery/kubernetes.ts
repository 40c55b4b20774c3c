import { randomInt } from 'node:crypto';
import type { KubernetesDiscovery } from '../core/model/discovery.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Discoverer, DiscoveryObserver } from './discoverer.ts';
import type { AccessSource } from './kubernetes/access.ts';
import { inClusterAccess } from './kubernetes/in-cluster.ts';
import { kubeconfigAccess, kubectlFiles } from './kubernetes/kubeconfig.ts';
import { PodSource } from './kubernetes/pod-source.ts';
import { PoolSource } from './kubernetes/pool-source.ts';
import { ServiceSource } from './kubernetes/service-source.ts';

export interface KubernetesDiscovererOptions {
  readonly settings: KubernetesDiscovery;
  readonly clock: Clock;
  /** Spreads waits, so that many clients do not come at once: 0 (inclusive) .. 1 (exclusive). */
  readonly random?: () => number;
  /** Default: that of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const RANDOM_STEPS = 2 ** 30;

/** Backends in a Kubernetes cluster. What it must be allowed to read there stands in `deploy/kubernetes`. */
export class KubernetesDiscoverer implements Discoverer {
  readonly #source: Discoverer;

  constructor(options: KubernetesDiscovererOptions) {
    this.#source = sourceFor(options);
  }

  run(observer: DiscoveryObserver, signal: AbortSignal): Promise<void> {
    return this.#source.run(observer, signal);
  }
}

function sourceFor({
  settings: { namespace, target, kubeconfigFile },
  clock,
  random = () => randomInt(RANDOM_STEPS) / RANDOM_STEPS,
  environment = process.env,
}: KubernetesDiscovererOptions): Discoverer {
  const access = accessFor(kubeconfigFile, environment);
  const settings = { namespace, access, clock, random };
  switch (target.kind) {
    case 'Service':
      return new ServiceSource(settings, target.service, target.portName);
    case 'Pods':
      return new PodSource(settings, target.selector, target.port);
    case 'InferencePool':
      return new PoolSource(settings, target.name);
  }
}

function accessFor(
  kubeconfigFile: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): AccessSource {
  if (kubeconfigFile !== undefined) return kubeconfigAccess([kubeconfigFile]);
  return inClusterAccess(environment) ?? kubeconfigAccess(kubectlFiles(environment));
}
