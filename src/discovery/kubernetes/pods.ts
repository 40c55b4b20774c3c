import type { MetricsAddress } from '../../core/model/backend.ts';
import { parseDestination } from '../../runtime/ip-address.ts';
import { printable } from '../../runtime/text.ts';
import type { Found } from '../discoverer.ts';
import { type FoundAndLeftOut, zoneIn } from './found.ts';
import { fieldOf, isPort, listOf, textOf } from './json.ts';

/** What is needed of a pod. */
export type KeptPod =
  /** It takes no requests. */
  | { readonly kind: 'out' }
  | {
      readonly kind: 'in';
      readonly address: string;
      readonly zone: string | undefined;
      readonly draining: boolean;
      readonly metrics: MetricsAddress | undefined;
      /** What is wrong with its annotations. */
      readonly complaints: readonly string[];
    };

/**
 * Only our own: `prometheus.io/port` and `/path` are no word of the engine where a mesh writes its own into them, as
 * Istio does.
 */
const ANNOTATIONS = { port: 'plimsoll.io/metrics-port', path: 'plimsoll.io/metrics-path' } as const;
/** Pods have it where something copies it from their node, as Kubernetes 1.35 does. */
const ZONE = 'topology.kubernetes.io/zone';

/** A pod that is ready, which drains once its deletion has begun. A pod of two families counts with its first address. */
export function keepPod(object: unknown): KeptPod {
  const ready = listOf(object, 'status', 'conditions').some(
    (condition) => textOf(condition, 'type') === 'Ready' && textOf(condition, 'status') === 'True',
  );
  const address = textOf(object, 'status', 'podIP');
  const phase = textOf(object, 'status', 'phase');
  if (!ready || !address || phase === 'Succeeded' || phase === 'Failed') return { kind: 'out' };
  const complaints: string[] = [];
  return {
    kind: 'in',
    address,
    zone: zoneIn(textOf(object, 'metadata', 'labels', ZONE)),
    draining: fieldOf(object, 'metadata', 'deletionTimestamp') !== undefined,
    metrics: metricsOf(object, complaints),
    complaints,
  };
}

function metricsOf(object: unknown, complaints: string[]): MetricsAddress | undefined {
  const read = <T>(name: string, parse: (text: string) => T | undefined, rule: string): T | undefined => {
    const text = textOf(object, 'metadata', 'annotations', name);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) complaints.push(`its ${name} "${printable(text, 60)}" ${rule}`);
    return value;
  };
  const port = read(ANNOTATIONS.port, portIn, 'is no port 1..65535');
  const path = read(
    ANNOTATIONS.path,
    pathIn,
    'is no path: one starts with / and has visible ASCII characters',
  );
  return port === undefined && path === undefined ? undefined : { port, path };
}

function portIn(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : undefined;
  return isPort(port) ? port : undefined;
}

function pathIn(text: string): string | undefined {
  return /^\/[!-~]{0,1023}$/.test(text) ? text : undefined;
}

/** One backend for each pod and port. */
export function foundInPods(pods: ReadonlyMap<string, KeptPod>, ports: readonly number[]): FoundAndLeftOut {
  const found = new Map<string, Found>();
  const leftOut: string[] = [];
  for (const [name, pod] of pods) {
    if (pod.kind === 'out') continue;
    const { zone, draining, metrics } = pod;
    leftOut.push(...pod.complaints.map((complaint) => `pod ${printable(name, 100)}: ${complaint}`));
    const address = parseDestination(pod.address);
    if (address.kind === 'bad') {
      leftOut.push(`pod ${printable(name, 100)} at ${printable(pod.address, 60)}: ${address.reason}`);
      continue;
    }
    for (const port of ports) {
      const key = `${address.value} ${port}`;
      // pods of one host network share an address: one that stays goes before one that ends
      if (found.get(key)?.draining !== false)
        found.set(key, { address: address.value, port, zone, draining, metrics });
    }
  }
  if (found.size === 0)
    leftOut.push(pods.size === 0 ? 'no pod matches' : `none of ${pods.size} pods that match is ready`);
  return { found: [...found.values()], leftOut };
}
