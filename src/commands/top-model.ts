import { FIRST_SORTING, SORT_KEYS, type Sorting } from '../admin/page/sort-rows.ts';

export const TOP_TABS = ['backends', 'sidecars', 'warnings', 'help'] as const;
export type TopTab = (typeof TOP_TABS)[number];

/** What the operator has chosen to look at. */
export interface TopModel {
  readonly tab: TopTab;
  /** Which of the groups, counted from 0; beyond the last one: the last one. */
  readonly group: number;
  readonly sorting: Sorting;
  readonly filter: string;
  /** Keys go into the filter. */
  readonly typing: boolean;
  /** Lines of the table above the first one that is shown; what is too much is the last page. */
  readonly scroll: number;
}

export const FIRST_MODEL: TopModel = {
  tab: 'backends',
  group: 0,
  sorting: FIRST_SORTING,
  filter: '',
  typing: false,
  scroll: 0,
};

/** A key as Node's readline tells it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

const FILTER_MAX = 100;

/**
 * What a key makes of it.
 * @param limits how many groups there are, and lines of the table on the screen
 */
export function pressed(
  model: TopModel,
  key: Key,
  limits: { readonly groups: number; readonly lines: number },
): TopModel | 'quit' {
  if (key.ctrl === true && (key.name === 'c' || key.name === 'd')) return 'quit';
  if (model.typing) return typed(model, key);
  const { groups, lines } = limits;
  switch (key.name ?? key.sequence ?? '') {
    case 'q':
      return 'quit';
    case 'tab':
      return inGroup(model, model.group + (key.shift === true ? -1 : 1), groups);
    case 'n':
      return inGroup(model, model.group + 1, groups);
    case 'p':
      return inGroup(model, model.group - 1, groups);
    case 'right':
      return sortedBy(model, 1);
    case 'left':
      return sortedBy(model, -1);
    case 'r':
      return { ...model, sorting: { ...model.sorting, descending: !model.sorting.descending } };
    case 'up':
    case 'k':
      return scrolled(model, -1);
    case 'down':
    case 'j':
      return scrolled(model, 1);
    case 'pageup':
      return scrolled(model, -lines);
    case 'pagedown':
    case 'space':
      return scrolled(model, lines);
    case 'home':
    case 'g':
      return { ...model, scroll: 0 };
    case 'escape':
      return { ...model, tab: 'backends', filter: '', scroll: 0 };
    default:
      return chosen(model, key.sequence ?? '');
  }
}

function chosen(model: TopModel, character: string): TopModel {
  switch (character) {
    case '/':
      return { ...model, tab: 'backends', typing: true, scroll: 0 };
    case 'b':
      return { ...model, tab: 'backends', scroll: 0 };
    case 's':
      return thereAndBack(model, 'sidecars');
    case 'w':
      return thereAndBack(model, 'warnings');
    case 'h':
    case '?':
      return thereAndBack(model, 'help');
    default:
      return model;
  }
}

/** The key that leads to a tab leads back from it. */
function thereAndBack(model: TopModel, tab: TopTab): TopModel {
  return { ...model, tab: model.tab === tab ? 'backends' : tab, scroll: 0 };
}

function typed(model: TopModel, { name = '', sequence = '', ctrl }: Key): TopModel {
  switch (name) {
    case 'return':
    case 'enter':
      return { ...model, typing: false };
    case 'escape':
      return { ...model, typing: false, filter: '' };
    case 'backspace':
      return { ...model, filter: Array.from(model.filter).slice(0, -1).join('') };
    default:
      // what one key gives is one character; anything else steers
      if (ctrl === true || !/^[^\p{C}]$/u.test(sequence)) return model;
      return { ...model, filter: (model.filter + sequence).slice(0, FILTER_MAX), scroll: 0 };
  }
}

function inGroup(model: TopModel, group: number, groups: number): TopModel {
  if (groups === 0) return model;
  return { ...model, tab: 'backends', group: (group + groups) % groups, scroll: 0 };
}

function sortedBy(model: TopModel, step: number): TopModel {
  const place = SORT_KEYS.indexOf(model.sorting.key) + step + SORT_KEYS.length;
  const key = SORT_KEYS[place % SORT_KEYS.length] ?? model.sorting.key;
  return { ...model, tab: 'backends', sorting: { key, descending: key !== 'backend' && key !== 'health' } };
}

function scrolled(model: TopModel, by: number): TopModel {
  return { ...model, scroll: Math.max(0, model.scroll + by) };
}
