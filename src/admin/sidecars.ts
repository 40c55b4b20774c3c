import { GoneSidecars } from './gone-sidecars.ts';
import { GroupVersions } from './group-versions.ts';
import {
  type Behind,
  type GoneSidecar,
  latestNack,
  type Sidecar,
  SIDECARS_SHOWN,
  type SidecarStream,
  type SidecarSurvey,
  sidecarsState,
  sidecarWarnings,
  type Version,
} from './sidecar-survey.ts';
import type { SidecarsState, UnixMs, Warning } from './state-shape.ts';

/** How many there are, and how many of them an operator should look at. */
export interface SidecarCounts {
  readonly total: number;
  /** Have not taken an assignment for a while. */
  readonly behind: number;
  /** Refused what they were sent, and have taken nothing of that type since. */
  readonly refusing: number;
}

/** Who has not taken an assignment by then is behind. */
const BEHIND_AFTER_MS = 5_000;
/** A survey stands for this long as long as nothing happens. */
const SURVEY_MS = 500;
/** Streams that end within this time end with their connection. */
const END_MS = 1_000;
const NO_ZONES: ReadonlyMap<string, string> = new Map();

/**
 * Which sidecars there are and what they have. It holds as much as there are streams and assignments that they
 * acknowledged, both of which the server bounds; an acknowledgement costs two look-ups for each of its assignments.
 */
export class Sidecars {
  readonly #now: () => number;
  readonly #byPeer = new Map<string, Sidecar>();
  readonly #byStream = new Map<object, Sidecar>();
  readonly #groups = new Map<string, GroupVersions>();
  readonly #gone = new GoneSidecars();
  #latestSurvey: SidecarSurvey | undefined;

  /** @param now monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#byPeer.size === 0;
  }

  /** A stream has said who it is. */
  joined(stream: object, of: SidecarStream): void {
    this.#latestSurvey = undefined;
    const known = this.#byPeer.get(of.peer);
    if (known === undefined) this.#gone.joined(of);
    const sidecar = known ?? {
      of,
      sinceMs: this.#now(),
      streams: new Map(),
      lapse: undefined,
    };
    // it is back: what it lacks now is counted anew
    sidecar.lapse = undefined;
    sidecar.streams.set(stream, { kind: of.kind, versions: new Map(), nacks: new Map() });
    this.#byPeer.set(of.peer, sidecar);
    this.#byStream.set(stream, sidecar);
  }

  /** A stream has ended; harmless for one that has not said who it is. */
  left(stream: object): void {
    this.#latestSurvey = undefined;
    const sidecar = this.#byStream.get(stream);
    if (sidecar === undefined) return;
    const atMs = this.#now();
    const behindSinceMs = this.#behindSince(sidecar, atMs);
    if (behindSinceMs !== undefined) sidecar.lapse = { atMs, behindSinceMs };
    this.#byStream.delete(stream);
    sidecar.streams.delete(stream);
    if (sidecar.streams.size > 0) return;
    this.#byPeer.delete(sidecar.of.peer);
    const { of, lapse } = sidecar;
    if (lapse !== undefined && atMs - lapse.atMs < END_MS) this.#gone.add({ of, ...lapse, atMs });
  }

  /** A stream asks for the groups no more; what the sidecar has of them on others stays. */
  unsubscribed(stream: object, serverGroups: readonly string[]): void {
    this.#latestSurvey = undefined;
    const versions = this.#byStream.get(stream)?.streams.get(stream)?.versions;
    for (const name of serverGroups) versions?.delete(name);
  }

  /** @param zones versions by zone, of those whose sidecars are told something else */
  published(serverGroup: string, version: string, zones: ReadonlyMap<string, string> = NO_ZONES): void {
    this.#latestSurvey = undefined;
    const group = this.#groups.get(serverGroup) ?? new GroupVersions();
    this.#groups.set(serverGroup, group);
    group.published(version, zones, this.#now());
  }

  /** The group is gone. */
  forget(serverGroup: string): void {
    this.#latestSurvey = undefined;
    this.#groups.delete(serverGroup);
    for (const { streams } of this.#byPeer.values()) {
      for (const { versions } of streams.values()) versions.delete(serverGroup);
    }
  }

  /** A response was taken. @param versions by server group; of another type than endpoints: none */
  acknowledged(stream: object, typeUrl: string, versions: ReadonlyMap<string, string>): void {
    this.#latestSurvey = undefined;
    const sidecar = this.#byStream.get(stream);
    if (sidecar === undefined) return;
    const open = sidecar.streams.get(stream);
    open?.nacks.delete(typeUrl);
    for (const [name, version] of versions) {
      const group = this.#groups.get(name);
      if (group === undefined) continue;
      open?.versions.set(name, group.find(sidecar.of.zone, version, this.#now()));
    }
  }

  /** A response was refused. @param names printable and cut, as `reason` */
  rejected(stream: object, typeUrl: string, names: string, reason: string): void {
    this.#latestSurvey = undefined;
    const nack = { atMs: this.#now(), typeUrl, names, reason };
    this.#byStream.get(stream)?.streams.get(stream)?.nacks.set(typeUrl, nack);
  }

  get counts(): SidecarCounts {
    const { total, behind, refusing } = this.#survey();
    return { total, behind: behind.length, refusing: refusing.length };
  }

  /** Those that are behind, in no order. */
  get behind(): readonly Sidecar[] {
    return this.#survey().behind.map(({ sidecar }) => sidecar);
  }

  /** How many were lost while they were behind, since the start. */
  get lost(): number {
    return this.#gone.total;
  }

  /** Who was lost while behind in the last 5 minutes and has not come back, the latest first. */
  get gone(): readonly GoneSidecar[] {
    return this.#gone.at(this.#now());
  }

  /** @param unix makes Unix time of the clock's. */
  state(unix: (atMs: number) => UnixMs): SidecarsState {
    return sidecarsState(this.#survey(), unix);
  }

  /** What is wrong with sidecars as a whole. */
  warnings(): readonly Warning[] {
    return sidecarWarnings(this.#survey());
  }

  /** Looks at each of them once: there may be tens of thousands. */
  #survey(): SidecarSurvey {
    const nowMs = this.#now();
    const latest = this.#latestSurvey;
    if (latest !== undefined && nowMs - latest.nowMs < SURVEY_MS) return latest;
    const behind: Behind[] = [];
    const refusing: Sidecar[] = [];
    const others: Sidecar[] = [];
    for (const sidecar of this.#byPeer.values()) {
      const sinceMs = this.#behindSince(sidecar, nowMs);
      if (sinceMs !== undefined) behind.push({ sidecar, sinceMs });
      if (latestNack(sidecar) !== undefined) refusing.push(sidecar);
      if (others.length < SIDECARS_SHOWN) others.push(sidecar);
    }
    const survey = {
      nowMs,
      total: this.#byPeer.size,
      streams: this.#byStream.size,
      behind,
      refusing,
      others,
      gone: this.#gone.at(nowMs),
      supersededAtMs: (name: string, zone: string, version: Version) =>
        this.#supersededAtMs(name, zone, version, nowMs),
    };
    this.#latestSurvey = survey;
    return survey;
  }

  /** The earliest of all that it has. */
  #behindSince({ of: { zone }, streams }: Sidecar, nowMs: number): number | undefined {
    let earliest: number | undefined;
    for (const { versions } of streams.values()) {
      for (const [name, version] of versions) {
        if (version.supersededAtMs === undefined) continue;
        const since = this.#supersededAtMs(name, zone, version, nowMs);
        if (since !== undefined) earliest = Math.min(since, earliest ?? since);
      }
    }
    return earliest;
  }

  /** undefined: it is the published one, or that has not been so for long. */
  #supersededAtMs(
    name: string,
    zone: string,
    { version, supersededAtMs }: Version,
    nowMs: number,
  ): number | undefined {
    if (supersededAtMs === undefined || nowMs - supersededAtMs < BEHIND_AFTER_MS) return undefined;
    return this.#groups.get(name)?.current(zone) === version ? undefined : supersededAtMs;
  }
}
