import type { SidecarGroup, SidecarState, SidecarsState, UnixMs, Warning } from './state-shape.ts';
import { shortType } from './tally.ts';

/** What a client is told apart by and known as; every text printable and cut. */
export interface SidecarStream {
  readonly node: string;
  readonly cluster: string;
  readonly identity: string;
  /** `address:port` of the other end: streams with the same one are one sidecar's. */
  readonly peer: string;
  /** The service. */
  readonly kind: string;
}

/** One version of a group's assignment, shared by all that hold it. */
export interface Version {
  readonly version: string;
  /** undefined: none has taken its place. */
  supersededAtMs: number | undefined;
}

export interface Sidecar {
  readonly of: SidecarStream;
  readonly sinceMs: number;
  /** The service of each. */
  readonly streams: Map<object, string>;
  /** By server group: what it acknowledged last. */
  readonly versions: Map<string, Version>;
  /** Its latest refusal, until it takes something of the type. */
  nack:
    | { readonly atMs: number; readonly typeUrl: string; readonly names: string; readonly reason: string }
    | undefined;
}

export interface Behind {
  readonly sidecar: Sidecar;
  readonly sinceMs: number;
}

/** All sidecars at one moment. */
export interface SidecarSurvey {
  readonly nowMs: number;
  readonly total: number;
  readonly streams: number;
  readonly behind: readonly Behind[];
  readonly refusing: readonly Sidecar[];
  /** As many as are shown, of whatever standing. */
  readonly others: readonly Sidecar[];
  /** Since when a group's version has been one that a sidecar should not have any more. */
  readonly supersededAtMs: (serverGroup: string, version: Version) => number | undefined;
}

export const SIDECARS_SHOWN = 100;
const GROUPS_SHOWN = 20;
/** Who is behind for longer is worth a warning. */
const WARN_AFTER_MS = 15_000;

/** @param unix makes Unix time of the clock's. */
export function sidecarsState(survey: SidecarSurvey, unix: (atMs: number) => UnixMs): SidecarsState {
  const { total, streams, behind, refusing, others } = survey;
  const [late, refused, rest] = [behind.map(({ sidecar }) => sidecar), refusing, others].map((some) =>
    some.slice(0, SIDECARS_SHOWN).toSorted(byNode),
  ) as [Sidecar[], Sidecar[], Sidecar[]];
  const shown = [...new Set([...late, ...refused, ...rest])].slice(0, SIDECARS_SHOWN);
  return {
    total,
    streams,
    behind: behind.length,
    shown: shown.map((sidecar) => sidecarState(sidecar, survey, unix)),
  };
}

function byNode(a: Sidecar, b: Sidecar): number {
  if (a.of.node === b.of.node) return 0;
  return a.of.node < b.of.node ? -1 : 1;
}

function sidecarState(
  { of, sinceMs, streams, versions, nack }: Sidecar,
  { supersededAtMs }: SidecarSurvey,
  unix: (atMs: number) => UnixMs,
): SidecarState {
  const groups = [...versions].map(([name, version]): SidecarGroup => {
    const since = supersededAtMs(name, version);
    return { name, version: version.version, behindSince: since === undefined ? null : unix(since) };
  });
  const { node, cluster, identity, peer } = of;
  return {
    node,
    cluster,
    identity,
    peer,
    since: unix(sinceMs),
    streams: [...streams.values()].toSorted(),
    groups: groups
      .toSorted((a, b) => Number(a.behindSince === null) - Number(b.behindSince === null))
      .slice(0, GROUPS_SHOWN),
    moreGroups: Math.max(0, groups.length - GROUPS_SHOWN),
    nack:
      nack === undefined
        ? null
        : { at: unix(nack.atMs), type: shortType(nack.typeUrl), names: nack.names, reason: nack.reason },
  };
}

/** What is wrong with sidecars as a whole. */
export function sidecarWarnings({ behind, refusing, total, nowMs }: SidecarSurvey): readonly Warning[] {
  const warnings: Warning[] = [];
  const late = behind.filter(({ sinceMs }) => nowMs - sinceMs > WARN_AFTER_MS);
  if (late.length > 0) {
    const earliestMs = late.reduce((least, { sinceMs }) => Math.min(least, sinceMs), nowMs);
    const seconds = Math.round((nowMs - earliestMs) / 1000);
    warnings.push({
      text: `${late.length} of ${total} sidecars ${late.length === 1 ? 'has' : 'have'} been behind for up to ${seconds} s: they go on with older weights`,
      remedy:
        'A refusal of theirs says why. Without one, look whether the Envoy is overloaded, and at its log and its statistic control_plane.connected_state.',
    });
  }
  const [first] = refusing;
  if (first?.nack !== undefined) {
    warnings.push({
      text: `${refusing.length} of ${total} sidecars ${refusing.length === 1 ? 'refuses' : 'refuse'} what they are sent: ${first.nack.reason}`,
      remedy:
        "What is refused is not sent again, and they keep what they had. Look at the configuration of the group or listener that is named, and at the Envoy's version.",
    });
  }
  return warnings;
}
