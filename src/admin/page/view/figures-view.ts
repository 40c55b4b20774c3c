import { discoveryWords, relativeDiscovery } from '../../words/discovery-words.ts';
import { MODE_WORDS, OBSERVING_WORDS } from '../../words/explain-words.ts';
import { age, integer, percent, took, UNKNOWN } from '../cells.ts';
import { summaryOf } from '../group-summary.ts';
import { rowsOf } from '../rows.ts';
import { refusalWords } from '../sidecar-words.ts';
import type { PublishReason } from '../../../core/model/decision.ts';
import type { GroupState, SidecarsState } from '../../state-shape.ts';
import { element, setAttribute, setText } from './dom.ts';

/** What a figure says, a note beside it, and whether it is as it should be. */
interface Figure {
  readonly value: string;
  readonly note: string;
  /** muted: as it was once, not as it is. */
  readonly mood?: 'bad' | 'warn' | 'muted' | undefined;
}

const ZONES_SHOWN = 6;

/** How a group is, in a handful of figures. */
export class FiguresView {
  readonly #name: HTMLElement;
  readonly #mode: HTMLElement;
  readonly #list: HTMLElement;
  readonly #parts = new Map<string, { readonly value: HTMLElement; readonly note: HTMLElement }>();

  constructor(name: HTMLElement, mode: HTMLElement, list: HTMLElement) {
    this.#name = name;
    this.#mode = mode;
    this.#list = list;
  }

  render(group: GroupState, sidecars: SidecarsState, now: number): void {
    setText(this.#name, group.name);
    setText(this.#mode, [modeWords(group), ...whence(group, now)].join(' · '));
    for (const [label, figure] of Object.entries(figuresOf(group, sidecars, now))) this.#show(label, figure);
  }

  #show(label: string, { value, note, mood }: Figure): void {
    const parts = this.#parts.get(label) ?? this.#add(label);
    setText(parts.value, value);
    setText(parts.note, note);
    setAttribute(parts.value, 'class', mood);
  }

  #add(label: string) {
    const parts = { value: element('b'), note: element('span', { class: 'muted' }) };
    this.#parts.set(label, parts);
    this.#list.append(
      element('div', {}, element('dt', {}, label), element('dd', {}, parts.value, parts.note)),
    );
    return parts;
  }
}

function modeWords({ mode, policy, intervalSeconds, evaluatedAt, observing, zones }: GroupState): string {
  if (evaluatedAt === null || mode === null) return 'not evaluated yet';
  if (policy === null) return 'no load-aware extension: configured weights';
  const words = `${MODE_WORDS[mode]} · Policy ${policy} · every ${age(intervalSeconds)}${zoneWords(zones)}`;
  return observing ? `${OBSERVING_WORDS} · ${words}` : words;
}

/** Where its backends come from. */
function whence({ discovery }: GroupState, now: number): readonly string[] {
  return discoveryWords(relativeDiscovery(discovery, now));
}

function zoneWords(zones: GroupState['zones']): string {
  if (zones.length === 0) return '';
  const shown = zones.slice(0, ZONES_SHOWN).map(({ zone, homeShare }) => `${zone} ${percent(homeShare)}`);
  return ` · stays in its zone: ${shown.join(', ')}${zones.length > ZONES_SHOWN ? ', …' : ''}`;
}

function figuresOf(
  group: GroupState,
  { refusing }: SidecarsState,
  now: number,
): Readonly<Record<string, Figure>> {
  const { admission, gain, staySeconds, published, streams, acknowledgementSeconds } = group;
  const { backends, healthy, unhealthy, silent, out, queued, running } = summaryOf(group);
  const isOld = silent > 0 && silent === backends;
  const old = isOld ? { mood: 'muted' as const } : {};
  const notes = [
    ...(unhealthy > 0 ? [`${integer(unhealthy)} unhealthy`] : []),
    ...(silent > 0 ? [`${integer(silent)} silent`] : []),
    ...(out > 0 ? [`${integer(out)} out`] : []),
  ];
  const behind = streams.following - streams.current;
  return {
    Healthy: {
      value: `${integer(healthy)} of ${integer(backends)}`,
      note: notes.join(', '),
      mood: unhealthy > 0 ? 'bad' : notes.length > 0 ? 'warn' : undefined,
    },
    Running: { value: integer(running), note: isOld ? oldWords(group, now) : 'requests', ...old },
    Queued: {
      value: integer(queued),
      note: isOld ? oldWords(group, now) : waitWords(admission.waitSeconds),
      ...old,
    },
    Refused: {
      value: percent(admission.share),
      note: admission.share > 0 ? 'of requests, with 503' : '',
      mood: admission.share > 0 ? 'bad' : undefined,
    },
    Gain: { value: gain.toFixed(2), note: gain === 0 ? '' : `requests stay ${took(staySeconds)}` },
    Sidecars: {
      value: `${integer(streams.current)} of ${integer(streams.following)}`,
      note: followWords(streams.following, behind, refusing),
      mood: refusing > 0 ? 'bad' : undefined,
    },
    Version: {
      value: published?.version.slice(0, 8) ?? UNKNOWN,
      note: published === null ? 'nothing published' : publishedWords(published, now),
    },
    'Push to ACK':
      behind > 0
        ? { value: UNKNOWN, note: `${integer(streams.current)} of ${integer(streams.following)} so far` }
        : { value: took(acknowledgementSeconds), note: 'until the last' },
  };
}

/** How old the youngest sample is. */
function oldWords(group: GroupState, now: number): string {
  const ages = rowsOf(group, now).flatMap(({ sampleAgeSeconds }) => sampleAgeSeconds ?? []);
  return ages.length === 0 ? 'never told' : `${age(Math.min(...ages))} old`;
}

function followWords(following: number, behind: number, refusing: number): string {
  const parts = [
    ...(following === 0 ? ['nobody follows'] : behind > 0 ? [`${integer(behind)} not yet`] : []),
    ...(refusing === 0 ? [] : [refusalWords(refusing)]),
  ];
  return parts.length === 0 ? 'have the newest' : parts.join(', ');
}

/** What made a new assignment due, in short. */
const BECAUSE: Readonly<Record<PublishReason, string>> = {
  first: 'the first',
  membership: 'backends',
  health: 'health',
  configuration: 'configuration',
  admission: 'refused share',
  shares: 'shares',
};

function publishedWords({ at, reason }: NonNullable<GroupState['published']>, now: number): string {
  return `${age((now - at) / 1000)} ago${reason === null ? '' : `: ${BECAUSE[reason]}`}`;
}

function waitWords(seconds: number | null): string {
  return seconds === null ? '' : `wait ${took(seconds)}`;
}
