import type { Version } from './sidecar-survey.ts';

/** Versions that an acknowledgement may be of. */
const RECENT_MAX = 64;

/** What is told to sidecars of the same kind. */
interface Line {
  current: Version;
  /** The latest ones, oldest first. */
  readonly recent: Map<string, Version>;
}

/** The versions of a group's assignment: one at a time for everybody, but for sidecars of zones that have their own. */
export class GroupVersions {
  #everybody: Line | undefined;
  readonly #zones = new Map<string, Line>();

  /** @param zones versions by zone, of all that have their own */
  published(version: string, zones: ReadonlyMap<string, string>, nowMs: number): void {
    this.#everybody = next(this.#everybody, version, nowMs);
    for (const [zone, { current }] of this.#zones) {
      if (zones.has(zone)) continue;
      current.supersededAtMs = nowMs;
      this.#zones.delete(zone);
    }
    for (const [zone, own] of zones) this.#zones.set(zone, next(this.#zones.get(zone), own, nowMs));
  }

  /** What sidecars of this zone should have. */
  current(zone: string): string | undefined {
    return this.#line(zone)?.current.version;
  }

  /** The version as shared by all that hold it; of one that is not known, not the published one. */
  find(zone: string, version: string, nowMs: number): Version {
    return this.#line(zone)?.recent.get(version) ?? { version, supersededAtMs: nowMs };
  }

  #line(zone: string): Line | undefined {
    return this.#zones.get(zone) ?? this.#everybody;
  }
}

function next(line: Line | undefined, version: string, nowMs: number): Line {
  if (line === undefined) {
    const current = { version, supersededAtMs: undefined };
    return { current, recent: new Map([[version, current]]) };
  }
  // of several zones only some may be told something new
  if (line.current.version === version) return line;
  line.current.supersededAtMs = nowMs;
  const current = line.recent.get(version) ?? { version, supersededAtMs: undefined };
  current.supersededAtMs = undefined;
  line.recent.delete(version);
  line.recent.set(version, current);
  line.current = current;
  const [oldest] = line.recent.keys();
  if (line.recent.size > RECENT_MAX && oldest !== undefined) line.recent.delete(oldest);
  return line;
}
