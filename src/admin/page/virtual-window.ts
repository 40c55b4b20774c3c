/** A list of rows of one height, one of which may be open and has more. Lengths are pixels. */
export interface VirtualList {
  readonly count: number;
  readonly rowHeight: number;
  readonly scrollTop: number;
  readonly viewHeight: number;
  /** The row that is open, and how much more it has. */
  readonly open?: { readonly index: number; readonly height: number } | undefined;
}

/** Rows `first` to before `end` are there; `before` and `after` stand for the others. */
export interface VirtualWindow {
  readonly first: number;
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/** Rows beyond each edge, so that a scroll does not show an empty place first. */
const MARGIN = 8;

/** Which rows have to be there. The open row is counted like the others, and its additional height with it. */
export function virtualWindow(list: VirtualList): VirtualWindow {
  const { count, scrollTop, viewHeight } = list;
  const first = Math.max(0, indexAt(list, scrollTop) - MARGIN);
  const end = Math.min(count, indexAt(list, scrollTop + viewHeight) + 1 + MARGIN);
  if (first >= end) return { first: 0, end: 0, before: 0, after: topOf(list, count) };
  return { first, end, before: topOf(list, first), after: topOf(list, count) - topOf(list, end) };
}

/** Where a row begins. */
export function topOf({ rowHeight, open }: VirtualList, index: number): number {
  return index * rowHeight + (open !== undefined && index > open.index ? open.height : 0);
}

function indexAt({ rowHeight, open }: VirtualList, y: number): number {
  if (open === undefined || y < (open.index + 1) * rowHeight) return Math.floor(y / rowHeight);
  return Math.max(open.index, Math.floor((y - open.height) / rowHeight));
}

/** The scroll position nearest to the present one that shows the whole row below a heading that covers the top. */
export function scrollTo(list: VirtualList, index: number, heading: number): number {
  const { rowHeight, open, scrollTop, viewHeight } = list;
  const top = topOf(list, index);
  const bottom = top + rowHeight + (open?.index === index ? open.height : 0);
  const lowest = bottom - (viewHeight - heading);
  return top < scrollTop ? top : Math.max(scrollTop, Math.min(lowest, top));
}
