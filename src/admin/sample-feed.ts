import type { ServerResponse } from 'node:http';
import type { Assignment } from '../core/model/assignment.ts';
import type { CollectRun } from '../core/model/collection.ts';
import type { GroupDecision } from '../core/model/decision.ts';
import type { GroupStatus } from '../core/model/group-status.ts';
import type { ServerGroup } from '../core/model/server-group.ts';
import { formatHostPort } from '../runtime/host-port.ts';
import {
  SAMPLE_FORMAT,
  type SampledAssignment,
  type SampledGroup,
  type SampleHeader,
  type SampleLine,
} from './sample-shape.ts';

/** Clients at a time. */
const CLIENTS_MAX = 8;
/** A client that has so much still to take is dropped: some 30 collections of a thousand backends. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;

export interface SampleFeedOptions {
  /** What the first line says of this process. */
  readonly origin: () => Pick<SampleHeader, 'version' | 'instance' | 'startedAt' | 'now' | 'nowMs'>;
  readonly status: (serverGroup: string) => GroupStatus | undefined;
}

/**
 * Tells clients what every evaluation rests on and what it came to, as sample-shape.ts describes it. While there is none
 * an evaluation costs a count. A client that reads too slowly is dropped: it has a gap then, and knows it.
 */
export class SampleFeed {
  readonly #options: SampleFeedOptions;
  readonly #clients = new Set<ServerResponse>();
  readonly #evaluations = new Map<string, number>();
  #groups: readonly ServerGroup[] = [];

  constructor(options: SampleFeedOptions) {
    this.#options = options;
  }

  /** Whether there is no room for one more client. */
  get isFull(): boolean {
    return this.#clients.size >= CLIENTS_MAX;
  }

  /** These are the groups from now on; those that follow no load are left out. */
  configure(groups: readonly ServerGroup[]): void {
    this.#groups = groups.filter(({ loadAware }) => loadAware !== undefined);
    const names = new Set(this.#groups.map(({ name }) => name));
    for (const name of this.#evaluations.keys()) if (!names.has(name)) this.#evaluations.delete(name);
    if (this.#clients.size === 0) return;
    const { nowMs } = this.#options.origin();
    this.#tell({ kind: 'groups', atMs: nowMs, groups: this.#sampledGroups() });
  }

  evaluated(decision: GroupDecision, run: CollectRun): void {
    const { serverGroup, atMs, delaySeconds, publish, assignment, backends } = decision;
    const number = (this.#evaluations.get(serverGroup) ?? 0) + 1;
    this.#evaluations.set(serverGroup, number);
    if (this.#clients.size === 0) return;
    this.#tell({
      kind: 'evaluation',
      group: serverGroup,
      number,
      atMs,
      collectionStartedAtMs: run.startedAtMs,
      delaySeconds,
      outcomes: backends.flatMap(({ backend: { id } }) => {
        const outcome = run.outcomes.get(id);
        return outcome === undefined ? [] : [[id, outcome] as const];
      }),
      ...(publish === undefined ? {} : { published: { reason: publish, ...sampled(assignment) } }),
    });
  }

  /** Tells a client from now on, whose headers have been written, until it goes. */
  add(response: ServerResponse): void {
    this.#clients.add(response);
    response.once('close', () => {
      this.#clients.delete(response);
    });
    response.on('error', () => undefined);
    const header: SampleHeader = {
      kind: 'plimsoll samples',
      format: SAMPLE_FORMAT,
      ...this.#options.origin(),
      groups: this.#sampledGroups(),
    };
    response.write(lineOf(header));
  }

  /** Ends all. */
  close(): void {
    for (const response of this.#clients) response.end();
    this.#clients.clear();
  }

  #tell(line: SampleLine): void {
    const bytes = lineOf(line);
    for (const response of this.#clients) {
      if (response.writableLength > WAITING_BYTES_MAX) response.destroy();
      else response.write(bytes);
    }
  }

  #sampledGroups(): readonly SampledGroup[] {
    return this.#groups.flatMap((group) => {
      const { name, mode, envoyLbPolicy, locality, servers, sharesBackends, keepsSessions, loadAware } =
        group;
      if (loadAware === undefined) return [];
      const assignment = this.#options.status(name)?.newest.assignment;
      return {
        name,
        mode,
        envoyLbPolicy,
        ...(locality === 'Prefer' && { locality }),
        intervalSeconds: loadAware.collect.intervalSeconds,
        ...(sharesBackends === true && { sharesBackends }),
        ...(keepsSessions === true && { keepsSessions }),
        balance: loadAware.balance,
        backends: servers.map(({ id, weight, draining, zone }) => ({
          id,
          weight,
          ...(draining === true && { draining }),
          ...(zone !== undefined && { zone }),
        })),
        evaluations: this.#evaluations.get(name) ?? 0,
        published: assignment === undefined ? null : sampled(assignment),
      };
    });
  }
}

function sampled({ endpoints, dropShare }: Assignment): SampledAssignment {
  return {
    endpoints: endpoints.map(({ address, port, weight, health }) => [
      formatHostPort(address, port),
      weight,
      health,
    ]),
    dropShare,
  };
}

function lineOf(line: SampleLine): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`);
}
