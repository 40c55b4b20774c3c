export type KeyAction = 'filter' | 'next' | 'previous' | 'first' | 'last' | 'open' | 'close' | 'help';

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
}

const KEYS: ReadonlyMap<string, KeyAction> = new Map([
  ['/', 'filter'],
  ['j', 'next'],
  ['ArrowDown', 'next'],
  ['k', 'previous'],
  ['ArrowUp', 'previous'],
  ['Home', 'first'],
  ['End', 'last'],
  ['Enter', 'open'],
  ['Escape', 'close'],
  ['?', 'help'],
]);
const KEYS_OF_FILTER: ReadonlyMap<string, KeyAction> = new Map([
  ['Escape', 'close'],
  ['Enter', 'next'],
  ['ArrowDown', 'next'],
]);
/** What moves through the table only while the focus is on nothing else that knows these keys. */
const OWN_KEYS_OF_OTHERS: readonly string[] = ['ArrowDown', 'ArrowUp', 'Home', 'End', 'Enter'];

/** Where the focus is: in the field of the filter, on the table or on nothing, or on another control. */
export type KeyFocus = 'filter' | 'table' | 'control';

/** What a key is for. undefined: it is the browser's. */
export function keyAction(
  { key, ctrlKey, altKey, metaKey }: KeyPress,
  focus: KeyFocus,
): KeyAction | undefined {
  if (ctrlKey || altKey || metaKey) return undefined;
  if (focus === 'filter') return KEYS_OF_FILTER.get(key);
  if (focus === 'control' && OWN_KEYS_OF_OTHERS.includes(key)) return undefined;
  return KEYS.get(key);
}
