import { age, integer, percent, score } from '../cells.ts';
import type { Row } from '../rows.ts';
import type { SortKey } from '../sort-rows.ts';

/** A column that is text. */
export interface TextColumn {
  readonly name: string;
  readonly heading: string;
  /** What it is, for whoever asks. */
  readonly title: string;
  readonly sort: SortKey;
  readonly isNumber: boolean;
  readonly text: (row: Row) => string;
}

/** A column that is drawn. */
export interface DrawnColumn {
  readonly name: 'load' | 'load-trend' | 'weight-trend';
  readonly heading: string;
  readonly title: string;
  /** undefined: nothing is sorted by it. */
  readonly sort: SortKey | undefined;
}

export type BackendColumn = TextColumn | DrawnColumn;

function number(name: SortKey, heading: string, title: string, text: (row: Row) => string): TextColumn {
  return { name, heading, title, sort: name, isNumber: true, text };
}

export const BACKEND_COLUMNS: readonly BackendColumn[] = [
  {
    name: 'backend',
    heading: 'Backend',
    title: 'Address and port',
    sort: 'backend',
    isNumber: false,
    text: ({ id }) => id,
  },
  {
    name: 'health',
    heading: 'Health',
    title: 'As sidecars are told; silent: healthy, but its metrics do not come',
    sort: 'health',
    isNumber: false,
    text: ({ state }) => state,
  },
  {
    name: 'load',
    heading: 'Load',
    title: 'Requests running and queued, against the most loaded',
    sort: 'inside',
  },
  number('queued', 'Queued', 'Requests that wait', ({ queued }) => integer(queued)),
  number('running', 'Running', 'Requests that run', ({ running }) => integer(running)),
  number('kvCache', 'KV', 'KV cache in use', ({ kvCache }) => percent(kvCache, 0)),
  number('age', 'Age', 'Of the last sample', ({ sampleAgeSeconds }) => age(sampleAgeSeconds)),
  number('score', 'Score', '100: the lightest in everything, 0: the heaviest', (row) => score(row.score)),
  number('weight', 'Weight', 'As published', ({ weight }) => integer(weight)),
  number('share', 'Share', 'Of new requests, as expected by the weights', ({ share }) => percent(share)),
  {
    name: 'load-trend',
    heading: 'Load, 15 min',
    title: 'Requests inside over 15 minutes; all on one scale',
    sort: undefined,
  },
  {
    name: 'weight-trend',
    heading: 'Weight, 15 min',
    title: 'Weight over the mean, 0 to 2; the line is 1',
    sort: undefined,
  },
  {
    name: 'why',
    heading: 'Why, or the last failure',
    title: 'What sets it apart, else when its metrics failed last',
    sort: 'failure',
    isNumber: false,
    text: whyText,
  },
];

function whyText({ why, failure, failedSecondsAgo, missed }: Row): string {
  if (why !== null) return why;
  if (failure === null) return '';
  return missed > 0 ? failure : `answers again; ${age(failedSecondsAgo)} ago: ${failure}`;
}

export function isText(column: BackendColumn): column is TextColumn {
  return 'text' in column;
}
