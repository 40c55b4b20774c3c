import { age, counted, integer } from '../cells.ts';
import {
  goneWords,
  standingOf,
  standingWith,
  standingWords,
  streamWords,
  troubleWords,
} from '../sidecar-words.ts';
import type { GoneSidecarState, SidecarState, SidecarsState } from '../../state-shape.ts';
import { dateTime } from './clock.ts';
import { element, Memo, setText } from './dom.ts';

const COLUMNS = ['Node', 'Standing', 'Acknowledged version', 'Last NACK', 'Streams', 'Identity', 'From'];

/** Who follows, and whether with the newest version. */
export class SidecarsView {
  readonly #note: HTMLElement;
  readonly #root: HTMLElement;
  readonly #body = element('tbody');
  readonly #memo = new Memo();

  constructor(note: HTMLElement, root: HTMLElement) {
    this.#note = note;
    this.#root = root;
    const heads = COLUMNS.map((name) => element('th', { scope: 'col' }, name));
    const head = element('thead', {}, element('tr', {}, ...heads));
    root.append(
      element('div', { class: 'scroll' }, element('table', { class: 'sidecars' }, head, this.#body)),
    );
  }

  render(sidecars: SidecarsState, now: number): void {
    const { total, streams, shown, gone } = sidecars;
    const rest = total > shown.length ? `; shown are ${integer(shown.length)}, those behind first` : '';
    const trouble = troubleWords(sidecars).join(', ');
    setText(
      this.#note,
      total === 0
        ? `none is connected: nobody follows the weights${trouble === '' ? '' : `; ${trouble}`}`
        : `${counted(total, 'connection')}, ${counted(streams, 'stream')}, ${trouble || 'none behind'}${rest}`,
    );
    this.#root.hidden = total === 0 && gone.length === 0;
    const lines = [
      ...gone.map((sidecar) => goneLine(sidecar, now)),
      ...shown.map((sidecar) => lineOf(sidecar, now)),
    ];
    this.#memo.update(JSON.stringify(lines), () => {
      this.#body.replaceChildren(...lines.map(rowOf));
    });
  }
}

type Line = readonly { readonly text: string; readonly title?: string; readonly mood?: string }[];

function goneLine(sidecar: GoneSidecarState, now: number): Line {
  const { identity, peer, at } = sidecar;
  return [
    nodeCell(sidecar),
    { text: goneWords(sidecar, now), mood: 'bad' },
    { text: '' },
    { text: '' },
    { text: '' },
    { text: identity, title: identity },
    { text: peer, title: `connected until ${dateTime(at)}` },
  ];
}

function nodeCell({
  node,
  cluster,
  zone = '',
}: Pick<SidecarState, 'node' | 'cluster'> & { readonly zone?: string }): Line[number] {
  const title = [node, cluster && `cluster ${cluster}`, zone && `zone ${zone}`].filter((part) => part !== '');
  return { text: node || '(no node id)', title: title.join(', ') };
}

function lineOf(sidecar: SidecarState, now: number): Line {
  const { identity, peer, streams, groups, moreGroups, nack, since } = sidecar;
  const versions = groups.slice(0, 3).map((group) => {
    const late = standingWith(group, now) === 'behind' ? ' (old)' : '';
    return `${group.name} ${group.version.slice(0, 8)}${late}`;
  });
  const more = moreGroups + groups.length - versions.length;
  const standing = standingOf(sidecar, now);
  return [
    nodeCell(sidecar),
    {
      text: standingWords(sidecar, now),
      mood:
        standing === 'behind' || standing === 'refuses' ? 'bad' : standing === 'current' ? 'good' : 'muted',
    },
    {
      text: `${versions.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
      title: groups.map(({ name, version }) => `${name} ${version}`).join('\n'),
    },
    nack === null
      ? { text: 'none', mood: 'muted' }
      : {
          text: `${age((now - nack.at) / 1000)} ago, ${nack.type}: ${nack.reason}`,
          title: `${nack.names}\n${nack.reason}`,
          mood: 'bad',
        },
    { text: streamWords(streams) },
    { text: identity, title: identity },
    { text: peer, title: `connected since ${dateTime(since)}` },
  ];
}

function rowOf(line: Line): HTMLTableRowElement {
  const cells = line.map(({ text, title, mood }, index) => {
    const attributes = { ...(title !== undefined && { title }), ...(mood !== undefined && { class: mood }) };
    return index === 0
      ? element('th', { scope: 'row', ...attributes }, text)
      : element('td', attributes, text);
  });
  return element('tr', {}, ...cells);
}
