import type { BackendChange } from './backend-change.ts';
import type { ConfigurationChange } from './configuration.ts';

/** Chapters of the table; each has its file in `rows`. */
export const PARTS = [
  'backends',
  'metrics-network',
  'control-plane',
  'xds-network',
  'sidecars',
  'load',
  'operator',
] as const;
export type Part = (typeof PARTS)[number];

/** A simulated backend that faults are done to. */
export interface BackendHandle {
  /** `ADDRESS:PORT`, as the configuration had it at the start. */
  readonly id: string;
  /** How it behaves from now on; what the change does not name stays. */
  change(change: BackendChange): Promise<void>;
}

/** A process that hosts backends, one or several. */
export interface HostHandle {
  readonly backends: readonly BackendHandle[];
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts a killed one again on its first ports, or on others: then the configuration must be told. */
  restart(options?: { readonly otherPorts?: boolean }): Promise<void>;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
}

/** The control plane, a process of its own. */
export interface PlaneHandle {
  readonly pid: number;
  /** `HOST:PORT` for sidecars, past the wires; the same after a restart. */
  readonly xds: string;
  /** `HOST:PORT` of the admin address, the same after a restart. */
  readonly admin: string;
  readonly log: readonly string[];
  /** The configuration file. */
  readonly file: string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /**
   * Starts a killed one again on the same ports; resolves when it is ready.
   * @param nodeOptions for NODE_OPTIONS, such as `--max-old-space-size=40`
   */
  restart(nodeOptions?: readonly string[]): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Writes the configuration with these changes and has it read; they stay until they are changed back. */
  configure(change: ConfigurationChange): Promise<void>;
  /** The configuration file as it should be. */
  yaml(): string;
  /** Does something inside the process, see `plane-hooks.mjs`. */
  hook(command: 'block' | 'clock', argument: number): Promise<void>;
  /** The soft limit of open files; undefined: as it was at the start. */
  limitFiles(most: number | undefined): Promise<void>;
}

/** What only the stage of the table has: the control plane behind TLS, and the means to start more. */
export interface Lab {
  /** Plimsoll's main.js. */
  readonly program: string;
  /** The certificate of the authority of {@link certify}, PEM. */
  readonly authority: string;
  /** Puts another certificate for sidecars in place, good from an hour ago until in so many seconds. */
  certify(seconds: number): Promise<void>;
  /** Starts another control plane: the same configuration with these changes, on ports of its own. */
  second(change: ConfigurationChange): Promise<SecondPlane>;
}

export interface SecondPlane {
  readonly xdsPort: number;
  stop(): Promise<void>;
}

/**
 * `open`: bytes pass. `closed`: what connects is reset. `silent`: connections are taken and stay, nothing passes in
 * either direction, not even that one has ended. `slow`: the control plane's bytes pass one a second.
 */
export type WireState = 'open' | 'closed' | 'silent' | 'slow';

/** The connection between one sidecar and the control plane. */
export interface WireHandle {
  state: WireState;
  /** The port of 127.0.0.1 that new connections go to. */
  to: number;
  /** Resets every connection; what comes after is as `state` says. */
  cut(): void;
}

export interface LoadHandle {
  /** Requests per second of the steady load. */
  readonly usualRate: number;
  rate: number;
  /** Aborts every request in flight, as when their caller goes away; they do not count as failed. */
  abortAll(): void;
  /** How often a client sends a request again that was refused with 503, at once; usually 0. */
  retries: number;
  /** How many of the sidecars get requests, the first ones; usually all. Absent: that cannot be chosen. */
  sidecars?: number;
}

/** What a fault is done to. */
export interface Stage {
  readonly hosts: readonly HostHandle[];
  /** Of all hosts, in the order of the configuration. */
  readonly backends: readonly BackendHandle[];
  readonly plane: PlaneHandle;
  /** One for each sidecar. */
  readonly wires: readonly WireHandle[];
  readonly load: LoadHandle;
  readonly lab?: Lab;
}

/** A fault on one stage. Each step is called once, `undo` and `restore` also when one before them failed half way. */
export interface Fault {
  /** Ids of the backends that it is done to; none where it is done to something else. */
  readonly targets: readonly string[];
  /** Where it needs another setting than that of the table: brings it about. The stage comes to ease before the fault. */
  arrange?(): Promise<void>;
  /** Takes the setting back, after all is measured. */
  restore?(): Promise<void>;
  apply(): Promise<void>;
  undo(): Promise<void>;
  /** Whether something came that the control plane and the sidecars do not show; in each look as `told`. */
  told?(): boolean;
}

/** A request that was not answered as it should be. */
export interface Failure {
  /**
   * `shed`: 503 `no available upstream`. `unavailable`: any other 503. `status`: another answer. `broken`: refused,
   * reset or cut. `timeout`: no whole answer in time. `wrong`: a whole answer, but not that to this request.
   */
  readonly kind: 'shed' | 'unavailable' | 'status' | 'broken' | 'timeout' | 'wrong';
  readonly detail: string;
  /** The backend that began to answer, by its own word. */
  readonly backend: string | undefined;
  /** Seconds after the fault came. */
  readonly sentAt: number;
  readonly endedAt: number;
}

/** What a judgement on a failure may ask for. Seconds after the fault came. */
export interface Times {
  /** Infinity: it was not, or not yet. */
  readonly noticedAt: number;
  readonly undoneAt: number;
  readonly targets: readonly string[];
}

/** A backend as the control plane sees it. */
export interface BackendLook {
  readonly id: string;
  readonly weight: number;
  readonly share: number;
  /** `HEALTHY`, `UNHEALTHY`, `DRAINING`, `ABSENT` */
  readonly health: string;
  readonly frozen: boolean;
  readonly asleep: boolean;
  readonly missed: number;
  readonly capacity: number;
  /** Whether the fault is done to it. */
  readonly target: boolean;
}

/** What a sidecar holds of a backend. */
export interface HeldLook {
  readonly id: string;
  readonly weight: number;
  /** `HEALTHY`, `UNHEALTHY` or `DRAINING` as published; `FAILED` its health checks; `EJECTED` for failures in a row. */
  readonly health: string;
  readonly target: boolean;
}

/** How things stand at one moment, seconds after the fault came; `told` as in {@link Fault}. */
export interface Look {
  readonly at: number;
  /** undefined: it does not answer. */
  readonly plane: PlaneLook | undefined;
  /** For each sidecar the hosts of the group. */
  readonly sidecars: readonly (readonly HeldLook[])[];
  readonly told?: boolean;
}

export interface PlaneLook {
  /** `balanced`, `kept` or `configured` */
  readonly mode: string;
  readonly shed: number;
  readonly warnings: number;
  readonly pushes: number;
  readonly evaluations: number;
  readonly streams: number;
  readonly sidecarsBehind: number;
  readonly sidecarsRefusing: number;
  /** 1: the last reload was put in force. */
  readonly reloaded: number;
  readonly backends: readonly BackendLook[];
  /** Its metrics page, for what is not above. */
  readonly page: string;
}

/** One line of the table: all that is stated before it is run. */
export interface Row {
  readonly part: Part;
  /** Unique; small letters. */
  readonly name: string;
  /** What happens, one line. */
  readonly happens: string;
  /** Which failures are the fault's own, one line; `none`. */
  readonly faultsOwn: string;
  /** Whether a failure is one of these; any other is ours. Absent: none is the fault's own. */
  readonly isFaultsOwn?: (failure: Failure, times: Times) => boolean;
  readonly fault: (stage: Stage) => Fault;
  /** Seconds from the end of `apply` to `undo`; at least until it is noticed where that has a limit. */
  readonly holdSeconds: number;
  /** Absent: there is nothing to notice. Seconds count from the start of `apply`. */
  readonly notice?: {
    readonly what: string;
    readonly withinSeconds: number;
    readonly when: (look: Look) => boolean;
  };
  /** Seconds count from the end of `undo`. */
  readonly recover: {
    readonly withinSeconds: number;
    /** Where it is more than two intervals: the rule that takes so long. */
    readonly because?: string;
    /** Default: load-aware, all healthy, every weight within 0.5 and 1.5 of the mean, and sidecars hold the same. */
    readonly when?: (look: Look) => boolean;
  };
  /** Must hold at every look from `notice` to `undo`. */
  readonly throughout?: { readonly what: string; readonly holds: (look: Look) => boolean };
  /** The share of all requests that the targets together may get from `notice`, or `apply` without one, to `undo`, 0..1. */
  readonly targetsGetAtMost?: number;
  /** The share that one backend may get in any 3 s after `undo`; default 3 times its fair one. */
  readonly mostShareAfter?: number;
  /** Pushes beside one per interval, each with its cause; default 0. */
  readonly extraPushes?: number;
  /** How much a recovered control plane may have grown, MiB; default 32. */
  readonly growthMiB?: number;
  /** It needs a stage with a {@link Lab}. */
  readonly needsLab?: true;
  /** Part of the short form. */
  readonly short?: true;
}
