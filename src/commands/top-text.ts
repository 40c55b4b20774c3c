import { age, counted, integer, percent, took } from '../admin/page/cells.ts';
import { type GroupSummary, summaryOf } from '../admin/page/group-summary.ts';
import { goneWords, sidecarCountWords, standingWords, streamWords } from '../admin/page/sidecar-words.ts';
import type { GoneSidecarState, GroupState, SidecarState, State } from '../admin/state-shape.ts';
import { GAP, wrapped } from '../runtime/wrap.ts';
import { discoveryWords, relativeDiscovery } from '../admin/words/discovery-words.ts';
import { MODE_WORDS, OBSERVING_WORDS, REASON_WORDS } from '../admin/words/explain-words.ts';

/** Characters of a version that tell it from others. */
const VERSION_LENGTH = 12;

/** The whole. @param now by the clock of the server */
export function headParts(state: State, now: number): readonly string[] {
  const { build, startedAt, groups, sidecars, ready } = state;
  return [
    `plimsoll ${build.version}, up ${age((now - startedAt) / 1000)}`,
    ...(ready ? [] : ['not ready']),
    counted(groups.length, 'server group'),
    sidecarCountWords(sidecars),
    configurationWords(state, now),
  ];
}

function configurationWords({ configuration }: State, now: number): string {
  const [latest] = configuration.reloads;
  if (latest === undefined) return '';
  const ago = age((now - latest.at) / 1000);
  if (latest.outcome === 'refused') return `reload refused ${ago} ago`;
  return latest.because === 'start' ? '' : `reloaded ${ago} ago`;
}

/** What a group is like. */
export function groupLines(group: GroupState, now: number, width: number): readonly string[] {
  const { name, gain, admission, published, streams, mode, policy, acknowledgementSeconds } = group;
  const someWait = streams.current < streams.following;
  const summary = summaryOf(group);
  const how =
    mode === null ? 'not evaluated yet' : policy === null ? MODE_WORDS.configured : MODE_WORDS[mode];
  const figures = [
    `gain ${gain.toFixed(2)}`,
    `refused ${percent(admission.share)}`,
    admission.waitSeconds === null ? '' : `wait ${took(admission.waitSeconds)}`,
    published === null ? '' : publishedWords(published, now),
    `${integer(streams.current)} of ${counted(streams.following, 'stream')} current${someWait ? ' so far' : ''}`,
    acknowledgementSeconds === null || someWait ? '' : `all had it after ${took(acknowledgementSeconds)}`,
  ];
  return [
    ...wrapped(
      [
        `${name}: ${how}`,
        ...(group.observing ? [OBSERVING_WORDS] : []),
        backendWords(summary),
        requestWords(summary),
      ],
      width,
    ),
    ...wrapped(figures, width),
    ...wrapped(discoveryWords(relativeDiscovery(group.discovery, now)), width),
  ];
}

function backendWords({ backends, healthy, unhealthy, silent, out }: GroupSummary): string {
  const parts = [
    `${integer(healthy)} healthy`,
    ...(unhealthy === 0 ? [] : [`${integer(unhealthy)} saturated`]),
    ...(out === 0 ? [] : [`${integer(out)} out`]),
    ...(silent === 0 ? [] : [`${integer(silent)} without fresh metrics`]),
  ];
  return `${counted(backends, 'backend')}: ${parts.join(', ')}`;
}

function requestWords({ queued, running }: GroupSummary): string {
  return queued === null && running === null ? '' : `${integer(queued)} queued, ${integer(running)} running`;
}

function publishedWords({ at, reason, version }: NonNullable<GroupState['published']>, now: number): string {
  const because = reason === null ? '' : `, because ${REASON_WORDS[reason]}`;
  return `published ${age((now - at) / 1000)} ago${because}, version ${version.slice(0, VERSION_LENGTH)}`;
}

/** A line for each sidecar that is told of, those that were lost first, and one for the rest. */
export function sidecarLines({ sidecars }: State, now: number): readonly string[] {
  const rest = sidecars.total - sidecars.shown.length;
  return [
    ...sidecars.gone.map((sidecar) => goneLine(sidecar, now)),
    ...(sidecars.total === 0 ? ['no sidecar is connected'] : []),
    ...sidecars.shown.map((sidecar) => sidecarLine(sidecar, now)),
    ...(rest > 0 ? [`and ${integer(rest)} more`] : []),
  ];
}

function goneLine(sidecar: GoneSidecarState, now: number): string {
  return [...whoParts(sidecar), goneWords(sidecar, now)].join(GAP);
}

function whoParts({
  node,
  identity,
  peer,
}: Pick<SidecarState, 'node' | 'identity' | 'peer'>): readonly string[] {
  return [
    node === '' ? '(no node id)' : node,
    identity === peer.slice(0, identity.length) ? peer : `${identity} ${peer}`,
  ];
}

function sidecarLine(sidecar: SidecarState, now: number): string {
  const { since, streams, groups, moreGroups, nack } = sidecar;
  const versions = groups.map(({ name, version }) => `${name} ${version.slice(0, VERSION_LENGTH)}`);
  const more = moreGroups === 0 ? '' : ` and ${integer(moreGroups)} more`;
  return [
    ...whoParts(sidecar),
    `${streamWords(streams)} for ${age((now - since) / 1000)}`,
    standingWords(sidecar, now),
    versions.join(', ') + more,
    ...(nack === null
      ? []
      : [`refused ${nack.type} ${nack.names} ${age((now - nack.at) / 1000)} ago: ${nack.reason}`]),
  ]
    .filter((part) => part !== '')
    .join(GAP);
}
