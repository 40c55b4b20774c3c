import type { BackendDeparture, DiscoveryStatus } from '../core/model/discovery.ts';
import { printable } from '../runtime/text.ts';
import type { DeparturesState, DiscoveryState, UnixMs } from './state-shape.ts';

const LEFT_OUT_SHOWN = 10;
const DEPARTURES_SHOWN = 20;
const SOURCE_LENGTH = 300;

/** @returns null: there is nothing to tell, as the configuration lists them and all of them stay */
export function discoveryState(
  status: DiscoveryStatus | undefined,
  unix: (atMs: number) => UnixMs,
): DiscoveryState | null {
  if (status === undefined || isPlain(status)) return null;
  const { source, list, failure, waiting, leftOut, doubted, draining } = status;
  return {
    source: source === undefined ? null : printable(source, SOURCE_LENGTH),
    listedAt: list === undefined ? null : unix(list.atMs),
    listed: list?.backends ?? 0,
    failing: failure === undefined ? null : { since: unix(failure.sinceMs), reason: failure.reason },
    waiting: waiting ?? null,
    leftOut: leftOut.slice(0, LEFT_OUT_SHOWN),
    moreLeftOut: Math.max(0, leftOut.length - LEFT_OUT_SHOWN),
    doubted: departures(doubted, unix),
    draining: departures(draining, unix),
  };
}

function departures(of: readonly BackendDeparture[], unix: (atMs: number) => UnixMs): DeparturesState {
  return {
    total: of.length,
    shown: of
      .slice(0, DEPARTURES_SHOWN)
      .map(({ id, atMs }) => [id, atMs === undefined ? null : unix(atMs)] as const),
  };
}

function isPlain({ source, draining }: DiscoveryStatus): boolean {
  return source === undefined && draining.length === 0;
}
