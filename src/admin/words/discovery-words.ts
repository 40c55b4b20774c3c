import type { DeparturesExplanation, DiscoveryExplanation } from '../explanation.ts';
import type { DeparturesState, DiscoveryState, UnixMs } from '../state-shape.ts';
import { duration, plural } from './figures.ts';

const NAMES_SHOWN = 3;

/** With the time from now on in place of times. */
export function relativeDiscovery(state: DiscoveryState | null, now: UnixMs): DiscoveryExplanation | null {
  if (state === null) return null;
  const { source, listedAt, listed, failing, waiting, leftOut, moreLeftOut } = state;
  return {
    source,
    listAgeSeconds: listedAt === null ? null : secondsBetween(listedAt, now),
    listedBackends: listed,
    failure: failing && { reason: failing.reason, forSeconds: secondsBetween(failing.since, now) },
    waiting,
    leftOut,
    moreLeftOut,
    doubted: relativeDepartures(state.doubted, now),
    draining: relativeDepartures(state.draining, now),
  };
}

function relativeDepartures({ total, shown }: DeparturesState, now: UnixMs): DeparturesExplanation {
  return {
    total,
    shown: shown.map(([backend, at]) => ({
      backend,
      inSeconds: at === null ? null : secondsBetween(now, at),
    })),
  };
}

function secondsBetween(from: UnixMs, to: UnixMs): number {
  return Math.max(0, (to - from) / 1000);
}

/** Where the backends of a group come from, and how it stands with that: clauses without a full stop. */
export function discoveryWords(discovery: DiscoveryExplanation | null): readonly string[] {
  if (discovery === null) return [];
  const { source, waiting, failure, doubted, draining, leftOut, moreLeftOut } = discovery;
  const from = source ?? 'the configuration';
  const told = waiting === null ? `backends from ${from}${listWords(discovery)}` : undefined;
  return [
    told ?? `waiting for discovery: ${from}: ${waiting ?? ''}`,
    ...(failure === null || waiting !== null
      ? []
      : [`it cannot be used for ${time(failure.forSeconds)}: ${failure.reason}`]),
    ...(doubted.total === 0 ? [] : [`missing there, which is not believed yet: ${departureWords(doubted)}`]),
    ...(draining.total === 0 ? [] : [`draining: ${departureWords(draining)}`]),
    ...(leftOut.length === 0 ? [] : [leftOutWords(leftOut, moreLeftOut)]),
  ];
}

function listWords({ source, listAgeSeconds, listedBackends }: DiscoveryExplanation): string {
  if (source === null) return '';
  if (listAgeSeconds === null) return ', which has told none yet';
  return `, which told ${plural(listedBackends, 'backend')} ${time(listAgeSeconds)} ago`;
}

/** `10.0.3.11:8000 (12 s left), 10.0.3.12:8000 and 4 more` */
function departureWords({ total, shown }: DeparturesExplanation): string {
  const names = shown
    .slice(0, NAMES_SHOWN)
    .map(({ backend, inSeconds }) => (inSeconds === null ? backend : `${backend} (${time(inSeconds)} left)`));
  const more = total - names.length;
  return `${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function leftOutWords(leftOut: readonly string[], more: number): string {
  const shown = leftOut.slice(0, NAMES_SHOWN);
  const others = leftOut.length - shown.length + more;
  return `left out: ${shown.join('; ')}${others === 0 ? '' : ` and ${others} more`}`;
}

function time(seconds: number): string {
  return duration(Math.round(seconds));
}
