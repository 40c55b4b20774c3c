import type {
  SampledAssignment,
  SampledBackend,
  SampledGroup,
  SampleEvaluation,
} from '../admin/sample-shape.ts';
import { evaluate, type GroupState, initialState } from '../core/evaluate.ts';
import { isClosed } from '../core/loop.ts';
import type { Assignment, Endpoint } from '../core/model/assignment.ts';
import type { Backend, BackendId } from '../core/model/backend.ts';
import type { CollectOutcome } from '../core/model/collection.ts';
import type { PublishReason } from '../core/model/decision.ts';
import type { ServerGroup } from '../core/model/server-group.ts';

/** What was published, and what would have been, after one evaluation. */
export interface ReplayStep {
  readonly atMs: number;
  readonly was: Assignment;
  readonly would: Assignment;
  /** Why it went out just now; undefined: it is as before. */
  readonly wouldPublish: PublishReason | undefined;
  /** What was published is much the same as this configuration came to, so that it learns from it. */
  readonly closed: boolean;
}

/** Feeds what was recorded of a server group through the rule, under another configuration. */
export class GroupReplay {
  readonly #settings: ServerGroup;
  readonly #follows: 'settings' | 'recording';
  #group: ServerGroup;
  #state: GroupState = initialState();
  #was: Assignment | undefined;
  #intervalSeconds = 0;
  #outcomes = new Map<BackendId, CollectOutcome>();
  #evaluatedAtMs: number | undefined;

  /**
   * @param settings of the other configuration; has load-aware settings. It counts as active.
   * @param follows `recording`: whatever was configured when it was recorded, Mode aside, takes the place of the settings
   */
  constructor(settings: ServerGroup, follows: 'settings' | 'recording' = 'settings') {
    this.#settings = { ...settings, mode: 'Active' };
    this.#group = this.#settings;
    this.#follows = follows;
  }

  /** What follows is of a process that has learned nothing from what was before. */
  restart(): void {
    this.#state = initialState();
    this.#evaluatedAtMs = undefined;
    this.#outcomes.clear();
  }

  /** These are the group's backends from here on, and what their sidecars have. */
  configure(recorded: SampledGroup): void {
    this.#was = recorded.published === null ? undefined : this.#assignmentOf(recorded.published);
    this.#intervalSeconds = recorded.intervalSeconds;
    if (this.#follows === 'recording') {
      this.#group = recordedGroup(this.#settings, recorded);
      return;
    }
    const { sharesBackends, keepsSessions } = recorded;
    const servers = serversOf(this.#settings, recorded);
    this.#group = sampledEach(recorded.intervalSeconds, {
      ...this.#settings,
      servers,
      sharesBackends,
      keepsSessions,
    });
  }

  /** @returns undefined: what is collected waits for the next evaluation, as the other Interval is longer */
  evaluate(line: SampleEvaluation): ReplayStep | undefined {
    const known = new Set(this.#group.servers.map(({ id }) => id));
    for (const [id, outcome] of line.outcomes) if (known.has(id)) this.#outcomes.set(id, outcome);
    const inForce = this.#was;
    const { published } = line;
    if (published !== undefined) this.#was = this.#assignmentOf(published);
    if (this.#waits(line.atMs)) return undefined;
    const input = {
      group: this.#group,
      nowMs: line.atMs,
      run: { startedAtMs: line.collectionStartedAtMs, endedAtMs: line.atMs, outcomes: this.#outcomes },
      delaySeconds: line.delaySeconds,
      inForce,
    };
    const closed = isClosed(this.#state, input);
    const { state, decision } = evaluate(this.#state, input);
    this.#state = state;
    this.#evaluatedAtMs = line.atMs;
    this.#outcomes = new Map();
    return {
      atMs: line.atMs,
      was: this.was,
      would: decision.assignment,
      wouldPublish: decision.publish,
      closed,
    };
  }

  /** What was published, as far as it is known by now. */
  get was(): Assignment {
    return this.#was ?? { serverGroup: this.#settings.name, endpoints: [], dropShare: 0 };
  }

  /** Recorded evaluations come as often as they come: one that is due within half of their interval is due. */
  #waits(atMs: number): boolean {
    const wanted = this.#group.loadAware?.collect.intervalSeconds ?? 0;
    if (this.#evaluatedAtMs === undefined || wanted <= this.#intervalSeconds) return false;
    return atMs - this.#evaluatedAtMs < 1000 * (wanted - this.#intervalSeconds / 2);
  }

  #assignmentOf({ endpoints, dropShare }: SampledAssignment): Assignment {
    return {
      serverGroup: this.#settings.name,
      endpoints: endpoints.map(([id, weight, health]): Endpoint => ({ ...placeOf(id), weight, health })),
      dropShare,
    };
  }
}

/** Those that are found are the recorded ones; of those that are listed the ones that were there. */
function serversOf({ discovery, servers }: ServerGroup, { backends }: SampledGroup): readonly Backend[] {
  if (discovery !== undefined) return backends.map(backendOf);
  const there = new Map(backends.map((backend) => [backend.id, backend]));
  return servers.flatMap((server) => {
    const recorded = there.get(server.id);
    if (recorded === undefined) return [];
    return recorded.draining === true ? { ...server, draining: true } : server;
  });
}

function backendOf({ id, weight, draining, zone }: SampledBackend): Backend {
  const place = { id, weight, ...placeOf(id), ...(zone !== undefined && { zone }) };
  return draining === true ? { ...place, draining } : place;
}

function recordedGroup(settings: ServerGroup, recorded: SampledGroup): ServerGroup {
  const {
    envoyLbPolicy,
    locality = 'None',
    intervalSeconds,
    sharesBackends,
    keepsSessions,
    balance,
    backends,
  } = recorded;
  const servers = backends.map(backendOf);
  const { loadAware } = settings;
  if (loadAware === undefined) return { ...settings, envoyLbPolicy, servers };
  const collect = { ...loadAware.collect, intervalSeconds };
  return {
    ...settings,
    envoyLbPolicy,
    locality,
    servers,
    sharesBackends,
    keepsSessions,
    loadAware: { collect, balance },
  };
}

/** Samples cannot be had more often than they were taken. */
function sampledEach(seconds: number, group: ServerGroup): ServerGroup {
  const { loadAware } = group;
  if (loadAware === undefined || loadAware.collect.intervalSeconds >= seconds) return group;
  return {
    ...group,
    loadAware: { ...loadAware, collect: { ...loadAware.collect, intervalSeconds: seconds } },
  };
}

function placeOf(id: BackendId): Pick<Endpoint, 'address' | 'port'> {
  const colon = id.lastIndexOf(':');
  return { address: id.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(id.slice(colon + 1)) };
}
