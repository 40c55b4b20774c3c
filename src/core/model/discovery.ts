import type { BackendId } from './backend.ts';

/*
 * Where the backends of a group are looked for, and what was found. Times named `…Ms` are monotonic milliseconds from
 * the process' clock.
 */

/** Where the backends of a group come from when the file does not list them. */
export type DiscoverySettings = DnsDiscovery | FileDiscovery | KubernetesDiscovery;

export interface DnsDiscovery {
  readonly kind: 'Dns';
  /** A domain name. */
  readonly name: string;
  /** A: A and AAAA records, all at `port`. SRV: port and weight come from the records. */
  readonly type: 'A' | 'SRV';
  /** 1..65535; undefined with SRV. */
  readonly port: number | undefined;
  /** `IP:PORT` of the servers to ask, in this order; empty: those of the system. */
  readonly resolvers: readonly string[];
}

export interface FileDiscovery {
  readonly kind: 'File';
  readonly path: string;
  readonly format: 'Plimsoll' | 'PrometheusSd';
}

export interface KubernetesDiscovery {
  readonly kind: 'Kubernetes';
  readonly namespace: string;
  readonly target: KubernetesTarget;
  /** undefined: the service account of the pod; outside a cluster what kubectl uses. */
  readonly kubeconfigFile: string | undefined;
}

export type KubernetesTarget =
  /** EndpointSlices of a Service. `portName` undefined: its only port. */
  | { readonly kind: 'Service'; readonly service: string; readonly portName: string | undefined }
  /** Pods by their labels, in the syntax of kubectl. */
  | { readonly kind: 'Pods'; readonly selector: string; readonly port: number }
  /** Gateway API inference extension: one backend for each pod and target port. */
  | { readonly kind: 'InferencePool'; readonly name: string };

/** Where the backends of a group come from, and how it stands with that. */
export interface DiscoveryStatus {
  /** In words; undefined: the configuration lists them. */
  readonly source: string | undefined;
  /** When the source last told a complete list, and how many backends it had; undefined: it never did. */
  readonly list: { readonly atMs: number; readonly backends: number } | undefined;
  /** Why the source cannot be read and since when, or its list not be used; undefined: all is well. */
  readonly failure: { readonly reason: string; readonly sinceMs: number } | undefined;
  /** Why the group has no backends to go by yet; undefined: it has. */
  readonly waiting: string | undefined;
  /** What the source has and cannot be used, in words. */
  readonly leftOut: readonly string[];
  /** Those that the source does not tell any more, which is not believed yet. */
  readonly doubted: readonly BackendDeparture[];
  readonly draining: readonly BackendDeparture[];
}

export interface BackendDeparture {
  readonly id: BackendId;
  /** When it goes; undefined: not before the source says more. */
  readonly atMs: number | undefined;
}
