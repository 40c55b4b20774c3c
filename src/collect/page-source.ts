import type { CollectFailure } from '../core/model/collection.ts';

export type PageResult =
  | { readonly kind: 'page'; readonly page: Uint8Array }
  | { readonly kind: 'failure'; readonly failure: CollectFailure };

/** Where the metrics pages of one backend come from. */
export interface PageSource {
  /**
   * Fetches the page; one fetch at a time. Whatever goes wrong is a result, and so is the end that `signal` puts to
   * it: a failure of the kind `timeout`.
   * @returns the page; its bytes may be overwritten when the event loop has its next turn
   * @param path with its query, as it is to be sent; default: the one of the settings
   */
  fetch(signal: AbortSignal, path?: string): Promise<PageResult>;
  /** Closes what is open. A fetch that is under way must have been ended by its signal. */
  close(): Promise<void>;
}
