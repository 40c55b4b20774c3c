/**
 * An element that is known to be there: every per-backend array of an evaluation has one entry for each backend of the
 * roster, in its order.
 */
export function at<T>(items: { readonly [index: number]: T }, index: number): T {
  return items[index] as T;
}
