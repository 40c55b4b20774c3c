import type { SidecarGroup, SidecarState, SidecarsState, UnixMs, Warning } from './state-shape.ts';
import { shortType } from './tally.ts';

/** What a client is told apart by and known as; every text printable and cut. */
export interface SidecarStream {
  readonly node: string;
  readonly cluster: string;
  /** Empty: it does not say. */
  readonly zone: string;
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

/** A refusal; `names` and `reason` are printable and cut. */
export interface Nack {
  readonly atMs: number;
  readonly typeUrl: string;
  readonly names: string;
  readonly reason: string;
}

export interface OpenStream {
  /** The service. */
  readonly kind: string;
  /** By server group that the stream asks for: what was acknowledged on it last. */
  readonly versions: Map<string, Version>;
  /** By type: the latest refusal, until something of the type is taken on this stream. */
  readonly nacks: Map<string, Nack>;
}

export interface Sidecar {
  readonly of: SidecarStream;
  readonly sinceMs: number;
  readonly streams: Map<object, OpenStream>;
  /** The latest stream that ended while the sidecar was behind. */
  lapse: { readonly atMs: number; readonly behindSinceMs: number } | undefined;
}

export interface Behind {
  readonly sidecar: Sidecar;
  readonly sinceMs: number;
}

/** One that was behind when its last stream ended. */
export interface GoneSidecar {
  readonly of: SidecarStream;
  readonly atMs: number;
  readonly behindSinceMs: number;
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
  /** Lost while behind, the latest first. */
  readonly gone: readonly GoneSidecar[];
  /** Since when a group's version has been one that a sidecar should not have any more. */
  readonly supersededAtMs: (serverGroup: string, zone: string, version: Version) => number | undefined;
}

export const SIDECARS_SHOWN = 100;
const GROUPS_SHOWN = 20;

/** @param unix makes Unix time of the clock's. */
export function sidecarsState(survey: SidecarSurvey, unix: (atMs: number) => UnixMs): SidecarsState {
  const { total, streams, behind, refusing, others, gone } = survey;
  const [late, refused, rest] = [behind.map(({ sidecar }) => sidecar), refusing, others].map((some) =>
    some.slice(0, SIDECARS_SHOWN).toSorted(byNode),
  ) as [Sidecar[], Sidecar[], Sidecar[]];
  const shown = [...new Set([...late, ...refused, ...rest])].slice(0, SIDECARS_SHOWN);
  return {
    total,
    streams,
    behind: behind.length,
    refusing: refusing.length,
    gone: gone.map(({ of: { node, cluster, identity, peer }, atMs, behindSinceMs }) => ({
      node,
      cluster,
      identity,
      peer,
      at: unix(atMs),
      behindSince: unix(behindSinceMs),
    })),
    shown: shown.map((sidecar) => sidecarState(sidecar, survey, unix)),
  };
}

function byNode(a: Sidecar, b: Sidecar): number {
  if (a.of.node === b.of.node) return 0;
  return a.of.node < b.of.node ? -1 : 1;
}

function sidecarState(
  sidecar: Sidecar,
  { supersededAtMs }: SidecarSurvey,
  unix: (atMs: number) => UnixMs,
): SidecarState {
  const { of, sinceMs, streams } = sidecar;
  const nack = latestNack(sidecar);
  const byName = new Map<string, SidecarGroup>();
  for (const { versions } of streams.values()) {
    for (const [name, version] of versions) {
      const since = supersededAtMs(name, of.zone, version);
      // of several streams the one that is behind
      if (since === undefined && byName.has(name)) continue;
      const behindSince = since === undefined ? null : unix(since);
      byName.set(name, { name, version: version.version, behindSince });
    }
  }
  const groups = [...byName.values()];
  const { node, cluster, zone, identity, peer } = of;
  return {
    node,
    cluster,
    zone,
    identity,
    peer,
    since: unix(sinceMs),
    streams: Array.from(streams.values(), ({ kind }) => kind).toSorted(),
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

/** Of all its streams and types; undefined: it refuses nothing. */
export function latestNack({ streams }: Sidecar): Nack | undefined {
  let latest: Nack | undefined;
  for (const { nacks } of streams.values()) {
    for (const nack of nacks.values()) if (nack.atMs >= (latest?.atMs ?? nack.atMs)) latest = nack;
  }
  return latest;
}

/** What is wrong with sidecars as a whole. */
export function sidecarWarnings(survey: SidecarSurvey): readonly Warning[] {
  return [...behindWarnings(survey), ...goneWarnings(survey), ...refusalWarnings(survey)];
}

function behindWarnings({ behind, total, nowMs }: SidecarSurvey): readonly Warning[] {
  if (behind.length === 0) return [];
  const earliestMs = behind.reduce((least, { sinceMs }) => Math.min(least, sinceMs), nowMs);
  const seconds = Math.round((nowMs - earliestMs) / 1000);
  const words =
    behind.length === 1
      ? `sidecars has been behind for ${seconds} s: it goes`
      : `sidecars have been behind for up to ${seconds} s: they go`;
  return [
    {
      text: `${behind.length} of ${total} ${words} on with older weights`,
      remedy:
        'A refusal of theirs says why. Without one, look whether the Envoy is overloaded, and at its log and its statistic control_plane.connected_state.',
    },
  ];
}

function goneWarnings({ gone, nowMs }: SidecarSurvey): readonly Warning[] {
  const [latest] = gone;
  if (latest === undefined) return [];
  const ago = `${Math.round((nowMs - latest.atMs) / 1000)} s ago`;
  const { node, peer } = latest.of;
  const who = node === '' ? peer : `${node}, ${peer}`;
  const text =
    gone.length === 1
      ? `a sidecar was lost ${ago} while it was behind (${who}): if it still runs, it goes on with older weights`
      : `${gone.length} sidecars were lost while they were behind, the last one ${ago} (${who}): those that still run go on with older weights`;
  const remedy =
    'Look whether that Envoy hangs or is cut off, and end or restart it. Nothing is to be done where it has ended. This is told for 5 minutes, or until it is back.';
  return [{ text, remedy }];
}

function refusalWarnings({ refusing, total }: SidecarSurvey): readonly Warning[] {
  const [first] = refusing;
  const nack = first === undefined ? undefined : latestNack(first);
  if (nack === undefined) return [];
  const words =
    refusing.length === 1 ? 'sidecars refuses what it is sent' : 'sidecars refuse what they are sent';
  return [
    {
      text: `${refusing.length} of ${total} ${words}: ${nack.reason}`,
      remedy:
        "What is refused is not sent again, and they keep what they had. Look at the configuration of the group or listener that is named, and at the Envoy's version.",
    },
  ];
}
